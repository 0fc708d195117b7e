import { z } from 'zod'

/** Messages from a server process to its supervisor. */
export const FromProcess = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), url: z.string() }),
  /** Requests the metrics of all processes. */
  z.object({ type: z.literal('metrics'), id: z.int() }),
  /** The metrics of this process, in prom-client's JSON format. */
  z.object({ type: z.literal('part'), id: z.int(), part: z.array(z.looseObject({})) }),
])
export type FromProcess = z.infer<typeof FromProcess>

/** Messages from the supervisor to a server process. */
export const ToProcess = z.discriminatedUnion('type', [
  /** Finish running requests and exit. A retired process has a successor, so the service stays ready. */
  z.object({ type: z.literal('stop'), because: z.enum(['SIGINT', 'SIGTERM', 'retired']) }),
  z.object({ type: z.literal('collect'), id: z.int() }),
  z.object({
    type: z.literal('metrics'),
    id: z.int(),
    parts: z.array(z.array(z.looseObject({}))),
    /** Number of processes that died and were replaced. */
    replaced: z.int(),
  }),
])
export type ToProcess = z.infer<typeof ToProcess>

/** The environment variable with the number of a server process, starting at 1. */
export const numberVariable = 'WAYBILL_PROCESS'
