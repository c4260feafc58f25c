// Builds the page into target/web, as files that any static host can serve from any folder.
import { defineConfig } from "vite";
import type { Plugin } from "vite";

/** The page itself is fetched at once, and not only when what starts the machine asks for it. */
const preloadPage: Plugin = {
  name: "preload-page",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle }) {
      const page = Object.values(bundle ?? {}).find((part) => part.type === "chunk" && part.name === "main");
      return page ? [{ tag: "link", attrs: { rel: "modulepreload", crossorigin: true, href: `./${page.fileName}` }, injectTo: "head" }] : [];
    },
  },
};

export default defineConfig({
  plugins: [preloadPage],
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
