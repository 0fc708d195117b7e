import { defineConfig } from 'vitest/config'

/** The commands of the README on a minimal Debian, which it builds with debootstrap. Needs root and the npm registry. */
export default defineConfig({
  test: {
    include: ['test/fresh/**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 200_000 } },
  },
})
