import { defineConfig } from 'vitest/config'

/** What `deploy/` holds, linted, rendered and validated. The first run builds Helm and Kustomize, which takes minutes. */
export default defineConfig({
  test: {
    include: ['test/deploy/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 900_000,
  },
})
