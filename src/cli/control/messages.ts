import { z } from 'zod'

// A command and a running server exchange JSON lines over the control socket. They hold secrets and must never be logged.

/** The first line of a client. */
export const Request = z.object({ argv: z.array(z.string()) })
export type Request = z.infer<typeof Request>

/** A further line for each question; without an answer if there is nobody to ask. */
export const Answer = z.object({ answer: z.string().optional() })
export type Answer = z.infer<typeof Answer>

const ControlReply = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    answer: z.object({
      json: z.json(),
      text: z.string(),
      exitCode: z.int().optional(),
      isPrinted: z.boolean().optional(),
      ifLost: z.string().optional(),
      /** Only a server of an earlier version asks in its result. */
      question: z.unknown().optional(),
    }),
  }),
  z.object({ ok: z.literal(false), failure: z.object({ error: z.string(), exitCode: z.int() }) }),
])
export type ControlReply = z.infer<typeof ControlReply>

/** The result comes last. */
export const FromServer = z.union([
  z.object({ progress: z.string() }),
  /** Lines for standard output. */
  z.object({ output: z.string() }),
  z.object({
    question: z.object({
      text: z.string(),
      isSecret: z.boolean().optional(),
      preset: z.string().optional(),
      isOptional: z.boolean().optional(),
    }),
  }),
  ControlReply,
])
export type FromServer = z.infer<typeof FromServer>
