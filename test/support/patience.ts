/**
 * How long tests wait before they fail. Shared by all of them, and far longer than any condition takes: it ends a run that
 * hangs, and says nothing about speed. A test that needs its own bound depends on how busy the machine is.
 */
export const patience = {
  testTimeout: 240_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
}
