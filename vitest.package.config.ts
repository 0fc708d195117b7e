import { defineConfig } from 'vitest/config'
import { patience } from './test/support/patience.ts'

/** What is installed elsewhere, installed: the package and the container image. It asks the npm registry, and takes a minute. */
export default defineConfig({
  test: {
    include: ['test/package/**/*.test.ts'],
    ...patience,
    hookTimeout: 300_000,
    // Each of them installs.
    fileParallelism: false,
  },
})
