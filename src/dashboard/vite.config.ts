import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npm start` listens. `vite src/dashboard` reloads changes and proxies API requests to it. */
const server = 'http://127.0.0.1:3000'

// oxlint-disable-next-line import/no-default-export -- Vite takes its configuration from it.
export default defineConfig({
  root: import.meta.dirname,
  base: '/settings/',
  plugins: [react()],
  build: {
    outDir: 'built',
    assetsDir: 'assets',
    // The content security policy allows no inline scripts, so everything is a separate file.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // Mantine and React share one chunk, which browsers cache until it changes.
    chunkSizeWarningLimit: 1000,
  },
  server: { proxy: { '/settings/trpc': server, '/settings/auth': server } },
})
