import { z } from 'zod'

/**
 * What a command and a running server say to each other over the control socket: one JSON line each
 * way. The line holds secrets, and so is never logged.
 */
export const ControlRequest = z.object({ argv: z.array(z.string()) })
export type ControlRequest = z.infer<typeof ControlRequest>

export const ControlReply = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    answer: z.object({ json: z.json(), text: z.string(), exitCode: z.int().optional() }),
  }),
  z.object({ ok: z.literal(false), failure: z.object({ error: z.string(), exitCode: z.int() }) }),
])
export type ControlReply = z.infer<typeof ControlReply>
