// Makes page.html, one file with script and style in it; without `--write` compares only.
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
const script = made.outputFiles[0].text.trim().replaceAll("</script", "<\\/script");
const style = readFileSync("src/style.css", "utf8").trim();
const page = readFileSync("src/page.html", "utf8")
  .replace("/* style */", () => style)
  .replace("/* script */", () => script);
if (process.argv.includes("--write")) {
  writeFileSync("page.html", page);
} else if (readFileSync("page.html", "utf8") !== page) {
  console.error("page.html is not what its sources make: crates/view/page/check --write");
  process.exit(1);
}
