import { z } from 'zod'
import { namedObject, Timestamp } from '../fields.ts'

/** What the OpenAPI document shows of an event besides its schema. */
interface Documentation {
  summary: string
  example: unknown
}

/** The documentation of each event, by its schema. */
export const documentation = z.registry<Documentation>()

/** What the fields of an event describe. */
export interface Texts {
  type?: string
  timestamp?: string
  data?: string
}

interface Definition<Type extends string, Data extends z.ZodObject> {
  type: Type
  /** Name of the schema. */
  id: string
  /** A few words, for a list. */
  summary: string
  /** What has happened, as a sentence. */
  description: string
  /** Of events that are not about a message. */
  texts?: Texts
  /** Of `data`. */
  schema: Data
  example: { timestamp: string; data: z.input<Data> }
}

/** Returns the schema of a webhook event, in the form of Standard Webhooks (standardwebhooks.com). */
export function defineEvent<Type extends string, Data extends z.ZodObject>(definition: Definition<Type, Data>) {
  const { type, id, summary, description, texts = {}, schema, example } = definition
  const event = namedObject(id, description, {
    type: z.literal(type).describe(texts.type ?? 'What happened.'),
    timestamp: Timestamp.describe(texts.timestamp ?? 'When it happened.'),
    data: schema.describe(texts.data ?? 'The message that it happened to.'),
  })
  documentation.add(event, { summary, example: { type, ...example } })
  return event
}

/** What the examples of several events share. */
export const sharedExample = {
  messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye',
  to: '34600111222',
  accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
  externalId: 'order-1042',
}
