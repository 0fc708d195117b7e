import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { translateDashboard } from '../packaging/translate-dashboard.ts'

/** Where `npm start` listens. `vite src/dashboard` reloads changes and proxies API requests to it. */
const server = 'http://127.0.0.1:3000'
const base = '/settings/'

/** Copies the SIL Open Font License, which must accompany the files of Inter. */
const fontLicence: Plugin = {
  name: 'font-licence',
  generateBundle() {
    const source = readFileSync(fileURLToPath(import.meta.resolve('@fontsource-variable/inter/LICENSE')))
    this.emitFile({ type: 'asset', fileName: 'assets/inter-license.txt', source })
  },
}

/** Leaves out the letters of ancient Greek, for which the system's font is enough. */
const modernLetters: Plugin = {
  name: 'modern-letters',
  enforce: 'pre',
  transform(css, id) {
    if (!id.endsWith('@fontsource-variable/inter/wght.css')) return undefined
    const modern = css.replace(/@font-face \{[^}]*greek-ext[^}]*\}/, '')
    if (modern === css) this.error('no greek-ext in wght.css: remove this plugin')
    return modern
  },
}

/** Preloads the app chunk, which main.tsx imports dynamically, so that browsers load it in parallel. */
const preloadFrame: Plugin = {
  name: 'preload-frame',
  transformIndexHtml: {
    order: 'post',
    handler: (_html, { bundle }) => {
      const names = Object.values(bundle ?? {}).flatMap((file) =>
        file.type === 'chunk' && file.name === 'app' ? [file.fileName] : [],
      )
      return names.map((name) => ({
        tag: 'link',
        attrs: { rel: 'modulepreload', crossorigin: true, href: `${base}${name}` },
        injectTo: 'head',
      }))
    },
  },
}

// oxlint-disable-next-line import/no-default-export -- Vite takes its configuration from it.
export default defineConfig({
  root: import.meta.dirname,
  base,
  plugins: [translateDashboard(), react(), modernLetters, fontLicence, preloadFrame],
  build: {
    outDir: 'built',
    assetsDir: 'assets',
    // The content security policy allows no inline scripts, so everything is a separate file.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // Mantine and React share one chunk, which browsers cache until it changes.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // Modules that main.tsx needs before anything else.
            { name: 'boot', test: /(colour-scheme|load-page)\.ts$|vite\/preload-helper/, priority: 1 },
            // The common part of all pages, in one file instead of fifty that load one after another.
            { name: 'app', test: /src\/dashboard\/app\.tsx$/ },
            // Modules shared by many pages, in two files instead of a hundred small ones.
            { name: 'icons', test: /@tabler/, minShareCount: 2 },
            { name: 'controls', test: /@mantine.(core|hooks)/, minShareCount: 12 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/settings/trpc': server, '/settings/auth': server } },
})
