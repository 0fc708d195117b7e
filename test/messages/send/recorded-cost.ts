/**
 * What a send cost when it was last measured, newest first; cost.test.ts fails if it costs more. Adding a line is how a
 * change that costs more is accepted, so it says what users get for it.
 */
export const recordedCosts = [
  {
    date: '2026-12-01',
    /** Allocated in V8's heap by a lone send, in code that is not compiled: under load it is about half. */
    bytes: 68_200,
    why: 'Less: a send has fewer promises, closures and timers, and is parsed with the fields that it has.',
  },
  {
    date: '2026-12-01',
    bytes: 70_700,
    why: 'Less: the text of a request is checked without a list of its values.',
  },
  {
    date: '2026-11-30',
    bytes: 72_000,
    why: 'Less: a released connection is handed out again without the timers and promises of pg-pool.',
  },
  {
    date: '2026-11-26',
    bytes: 83_500,
    why: 'Less: PostgreSQL describes the columns of a prepared statement once, and a statement has fewer promises.',
  },
  {
    date: '2026-11-26',
    bytes: 102_500,
    why: 'First figure with the compilers off: until then, the options did not reach the server.',
  },
] as const

/** Node's versions allocate differently. */
export const recordedUnder = 'v24.21.0'
