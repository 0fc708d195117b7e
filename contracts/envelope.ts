import { z } from 'zod'
import { apiErrorCodes, type ErrorCode } from './errors.ts'

/** Spec, Envelopes: what every successful answer under `/api/` looks like. */
export function successEnvelope<Data extends z.ZodType>(data: Data) {
  return z.object({
    success: z.literal(true).describe('Always `true`: the request succeeded.'),
    data: data.describe('What was asked for.'),
  })
}

/** Spec, Envelopes: what a failure with one of these codes looks like. */
export function failureEnvelope<Code extends ErrorCode>(codes: readonly Code[]) {
  return z.object({
    success: z.literal(false).describe('Always `false`: the request failed.'),
    error: z
      .object({
        code: z.enum(codes).describe('What went wrong, for a program to read. A code keeps its meaning.'),
        message: z
          .string()
          .describe('What went wrong and what to change, for a person to read. The wording may change.'),
      })
      .describe('What went wrong.'),
  })
}

/** Any failure under `/api/`. */
export const ErrorResponse = failureEnvelope(apiErrorCodes)
export type ErrorResponse = z.infer<typeof ErrorResponse>
