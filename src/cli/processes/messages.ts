import { z } from 'zod'

/** What a server process tells its supervisor. */
export const FromProcess = z.discriminatedUnion('type', [
  z.object({ type: z.literal('listening'), url: z.string() }),
  /** Asks for the metrics of all processes. */
  z.object({ type: z.literal('metrics'), id: z.int() }),
  /** The metrics of this process, in the JSON of prom-client. */
  z.object({ type: z.literal('part'), id: z.int(), part: z.array(z.looseObject({})) }),
])
export type FromProcess = z.infer<typeof FromProcess>

/** What a supervisor tells a server process. */
export const ToProcess = z.discriminatedUnion('type', [
  /** Finish what runs, and exit. A retired process has a successor, so the service as a whole stays ready. */
  z.object({ type: z.literal('stop'), because: z.enum(['SIGINT', 'SIGTERM', 'retired']) }),
  z.object({ type: z.literal('collect'), id: z.int() }),
  z.object({
    type: z.literal('metrics'),
    id: z.int(),
    parts: z.array(z.array(z.looseObject({}))),
    /** How many processes died and were replaced. */
    replaced: z.int(),
  }),
])
export type ToProcess = z.infer<typeof ToProcess>

/** The environment variable with the number of a server process, from 1. */
export const numberVariable = 'WAYBILL_PROCESS'
