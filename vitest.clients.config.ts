import { defineConfig } from 'vitest/config'

/**
 * Clients that generators make from the OpenAPI document, compiled and run. It needs the toolchains of their languages and
 * the package registries, and takes minutes.
 */
export default defineConfig({
  test: {
    include: ['test/clients/**/*.test.ts'],
    // The first run downloads and compiles what the clients depend on.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    // Generators and compilers use more than one core where they can.
    maxConcurrency: 2,
    // Schemathesis runs beside the clients: it takes the same time however busy the machine is.
    maxWorkers: 2,
    globalSetup: 'test/support/pglite.ts',
  },
})
