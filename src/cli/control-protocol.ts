import { z } from 'zod'

/**
 * What a command and a running server say to each other over the control socket: a JSON line there, and
 * one back, after as many as the server has progress or output to tell. They hold secrets, and so are never logged.
 */
export const ControlRequest = z.object({ argv: z.array(z.string()) })
export type ControlRequest = z.infer<typeof ControlRequest>

export const ControlReply = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    answer: z.object({
      json: z.json(),
      text: z.string(),
      exitCode: z.int().optional(),
      isPrinted: z.boolean().optional(),
    }),
  }),
  z.object({ ok: z.literal(false), failure: z.object({ error: z.string(), exitCode: z.int() }) }),
])
export type ControlReply = z.infer<typeof ControlReply>

export const ControlProgress = z.object({ progress: z.string() })
export type ControlProgress = z.infer<typeof ControlProgress>

/** Lines for standard output. */
export const ControlOutput = z.object({ output: z.string() })
export type ControlOutput = z.infer<typeof ControlOutput>
