// Makes page.js, one file; without `--write` compares only.
import { readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const made = await build({
  entryPoints: ["src/main.ts"],
  bundle: true,
  minify: true,
  target: "es2023",
  format: "iife",
  write: false,
});
// It stands in an element of the page.
const script = `${made.outputFiles[0].text.trim().replaceAll("</script", "<\\/script")}\n`;
if (process.argv.includes("--write")) {
  writeFileSync("page.js", script);
} else if (readFileSync("page.js", "utf8") !== script) {
  console.error("page.js is not what its sources make: crates/observe/view/page/check --write");
  process.exit(1);
}
