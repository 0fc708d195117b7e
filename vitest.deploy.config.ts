import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'

/** Lints and validates the files in `deploy/`, which builds Helm and Kustomize first, and builds and runs the container image. */
export default defineConfig({
  test: {
    include: ['test/deploy/**/*.test.ts'],
    ...patience,
    hookTimeout: 900_000,
  },
})
