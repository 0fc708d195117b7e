import { z } from 'zod'
import { apiErrorCodes } from './errors.ts'
import { namedObject } from './fields.ts'

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

const ErrorDetail = namedObject('ErrorDetail', 'What went wrong.', {
  code: ErrorCode,
  message: z.string().describe('What went wrong and what to change, for a person to read. The wording may change.'),
  messageId: z.string().optional().describe('The message, if the send failed after it was recorded.'),
  field: z.string().optional().describe('The first field that is wrong, such as `variables.2`.'),
  failureCode: z.string().optional().describe("Why: WhatsApp's error code. A failed message has it as `error.code`."),
})

/** The envelope of every failure under `/api/`. */
export const ErrorResponse = namedObject('ErrorResponse', 'The response to a request that failed.', {
  success: z.literal(false).describe('Always `false`: the request failed.'),
  error: ErrorDetail,
})
export type ErrorResponse = z.infer<typeof ErrorResponse>
