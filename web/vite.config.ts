// Builds the page into target/web, as files that any static host can serve from any folder.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./",
  build: {
    outDir: "../target/web",
    emptyOutDir: true,
    target: "es2022",
    // No inlined data: the Content-Security-Policy allows none.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
});
