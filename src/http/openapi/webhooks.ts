import { MessageEvent, type WebhookEvent, WebhookHeaders, webhooks } from '../../../contracts/events.ts'
import { capitalize } from '../../platform/text.ts'
import { type OpenApiDocument, type Parameter, refer, type Schema, type WebhookOperation } from './document.ts'
import { listNamedSchemas, mapValues, mergeAlternatives, writeResponseSchema } from './schemas.ts'

/** Returns the `webhooks` section: one request for each event type, as its receiver sees it. */
export function writeWebhooks(): OpenApiDocument['webhooks'] {
  return Object.fromEntries(eventTypes.map((type) => [type, { post: writeWebhook(type) }]))
}

/**
 * Returns the schemas of the events that `event.list` also returns. All types share one schema, because an endpoint
 * parses a request before it knows the type.
 */
export function writeEventSchemas(): Record<string, Schema> {
  const schemas = listNamedSchemas(MessageEvent)
  const { properties, ...event } = mergeAlternatives(eventNames.map((name) => schemas[name] ?? {}))
  const merged = {
    MessageEvent: {
      ...event,
      description: MessageEvent.description ?? '',
      properties: { ...properties, data: refer('schemas', 'MessageEventData') },
    },
    MessageEventData: properties?.['data'] ?? {},
  }
  return mapValues(merged, writeResponseSchema)
}

/** The names of the schemas that `MessageEvent` combines. */
export const eventNames = MessageEvent.options.map((option) => String(option.meta()?.id))

// Its `satisfies` ensures that the keys are the event types.
const eventTypes = Object.keys(webhooks) as WebhookEvent['type'][]

/** How we handle the receiver's response. */
const responses = {
  '2XX': { description: 'Received. Respond before you process the event.' },
  '410': { description: 'Gone: disables the endpoint.' },
  default: {
    description: 'Anything else, or nothing in time: retried.',
  },
}

function writeWebhook(type: WebhookEvent['type']): WebhookOperation {
  const { summary, description, example } = webhooks[type]
  return {
    operationId: nameOperation(type),
    // The name that receivers compare with, which viewers list.
    summary: type,
    description: `${summary}. ${description}`,
    tags: ['Webhooks'],
    security: [],
    parameters: webhookHeaders,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: writeEvent(type),
          examples: { default: { value: example } },
        },
      },
    },
    responses,
  }
}

/** The header fields of every event. They are not components, which generators of Go omit unless a path uses them. */
const webhookHeaders: Parameter[] = Object.entries(WebhookHeaders.shape).map(([name, field]) => ({
  name,
  in: 'header',
  required: true,
  description: field.description ?? '',
  schema: { type: 'string' },
  example: field.meta()?.examples?.[0],
}))

/** `message.outcome_unknown` becomes `onMessageOutcomeUnknown`. */
function nameOperation(type: string): string {
  return `on${type.split(/[._]/).map(capitalize).join('')}`
}

/** Inlines the schema of an event that no path returns, because tools omit components that no path uses. */
function writeEvent(type: WebhookEvent['type']): Schema {
  const { event } = webhooks[type]
  const name = String(event.meta()?.id)
  if (eventNames.includes(name)) return refer('schemas', 'MessageEvent')
  return writeResponseSchema(listNamedSchemas(event)[name] ?? {})
}
