import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npm start` listens; `vite src/dashboard` shows changes at once and asks it for everything else. */
const server = 'http://127.0.0.1:3000'

// oxlint-disable-next-line import/no-default-export -- Vite takes its configuration from it.
export default defineConfig({
  root: import.meta.dirname,
  base: '/settings/',
  plugins: [react()],
  build: {
    outDir: 'built',
    assetsDir: 'assets',
    // Everything is a file of its own: the content policy lets nothing run from within the page.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    // Mantine and React in one file; a browser keeps it until it changes.
    chunkSizeWarningLimit: 1000,
  },
  server: { proxy: { '/settings/trpc': server, '/settings/auth': server } },
})
