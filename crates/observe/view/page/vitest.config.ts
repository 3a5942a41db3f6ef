import { defineConfig } from "vitest/config";

// A browser on a busy machine is slow.
export default defineConfig({ test: { testTimeout: 60_000, cache: false } });
