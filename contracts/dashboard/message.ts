import { z } from 'zod'
import { listMessages as publicListMessages, Message, MessagePage } from '../api/message.ts'
import { MessageId } from '../fields.ts'
import { ofAccount, settingsProcedure } from '../procedure.ts'
import { Delivery } from './webhook.ts'

/** The filters of `message.list` (contracts/message.ts). */
export const listMessages = settingsProcedure({
  kind: 'query',
  admits: 'viewer',
  summary: 'List messages, the newest first',
  input: ofAccount(publicListMessages.input.shape),
  output: MessagePage,
})

/** WhatsApp's code in plain words. */
export const FailureAdvice = z.object({
  /** What happened, such as `The recipient has no WhatsApp.` */
  meaning: z.string(),
  /** What the reader can do about it. */
  advice: z.string(),
})
export type FailureAdvice = z.infer<typeof FailureAdvice>

export const MessageDelivery = Delivery.extend({ endpointId: z.string(), url: z.string() })

export const getMessage = settingsProcedure({
  kind: 'query',
  admits: 'viewer',
  summary: 'Read one message with its status and webhook deliveries',
  input: ofAccount({ messageId: MessageId }),
  output: z.object({
    message: Message,
    /** Present only when the message failed. */
    failure: FailureAdvice.optional(),
    /** Those of every endpoint; the oldest first, and at most a hundred. */
    deliveries: z.array(MessageDelivery),
  }),
})
