import { defineConfig } from 'vitest/config'

/** Lints and validates the files in `deploy/`, which builds Helm and Kustomize first, and builds and runs the container image. */
export default defineConfig({
  test: {
    include: ['test/deploy/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 900_000,
  },
})
