import { z } from 'zod'
import { apiErrorCodes } from './errors.ts'

/** The envelope of every successful response under `/api/`. */
export function successEnvelope<Data extends z.ZodType>(data: Data) {
  return z.object({
    success: z.literal(true).describe('Always `true`.'),
    data: data.describe('The result of the request.'),
  })
}

const ErrorCode = z
  .enum(apiErrorCodes)
  .describe('What went wrong, for a program to read. A code keeps its meaning.')
  .meta({ id: 'ErrorCode' })

const ErrorDetail = z
  .object({
    code: ErrorCode,
    message: z.string().describe('What went wrong and what to change, for a person to read. The wording may change.'),
    messageId: z.string().optional().describe('The message, if the send failed after it was recorded.'),
    field: z.string().optional().describe('The first field that is wrong, such as `variables.2`.'),
    failureCode: z.string().optional().describe("Why: WhatsApp's error code. A failed message has it as `error.code`."),
  })
  .describe('What went wrong.')
  .meta({ id: 'ErrorDetail' })

/** The envelope of every failure under `/api/`. */
export const ErrorResponse = z
  .object({
    success: z.literal(false).describe('Always `false`: the request failed.'),
    error: ErrorDetail,
  })
  .describe('The response to a request that failed.')
  .meta({ id: 'ErrorResponse' })
export type ErrorResponse = z.infer<typeof ErrorResponse>
