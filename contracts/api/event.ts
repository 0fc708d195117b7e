import { z } from 'zod'
import { MessageEvent, messageEventTypes } from '../events.ts'
import { idCursor, MessageId, namedObject, NextCursor, PageLimit, Timestamp, withExample } from '../fields.ts'
import { procedure } from '../procedure.ts'

export const ListedEvent = namedObject('ListedEvent', 'An event with its ID.', {
  eventId: withExample(
    z.string(),
    'ID of the event: the `webhook-id` of every attempt to deliver it.',
    'evt_01kah3bc4pj1m6x8z0v2t5r7qd',
  ),
  event: MessageEvent,
})
export type ListedEvent = z.infer<typeof ListedEvent>

export const EventPage = namedObject('EventPage', 'A page of events.', {
  items: z.array(ListedEvent).describe('Oldest first.'),
  nextCursor: NextCursor.optional().meta({ examples: ['evt_01kah3bc4pj1m6x8z0v2t5r7qd'] }),
})
export type EventPage = z.infer<typeof EventPage>

export const listEvents = procedure({
  kind: 'query',
  budget: 'reads',
  path: '/api/v1/event',
  tag: 'Events',
  summary: 'List webhook events, oldest first',
  description:
    'Lists the message events of this account while they are kept: for callers that missed webhooks or have no endpoint. Events of WhatsApp accounts are not listed. A successful send usually records no `message.sent` unless an endpoint subscribes to it. New events always appear after those already listed.',
  input: z.strictObject({
    type: withExample(z.enum(messageEventTypes).optional(), 'Only events of this type.', 'message.failed'),
    messageId: MessageId.optional().describe('Only events of this message.'),
    from: Timestamp.optional().describe('Only events recorded at or after this time.'),
    until: Timestamp.optional().describe('Only events recorded before this time.'),
    cursor: idCursor('evt')
      .describe(
        '`nextCursor` of the previous page, or the `eventId` of the last event seen. Leave out for the first page.',
      )
      .optional()
      .meta({ examples: ['evt_01kah3bc4pj1m6x8z0v2t5r7qd'] }),
    limit: PageLimit,
  }),
  output: EventPage,
  errors: [],
  example: {
    input: { from: '2026-11-20T09:00:00Z' },
    output: {
      items: [
        {
          eventId: 'evt_01kah3bc4pj1m6x8z0v2t5r7qd',
          event: {
            type: 'message.delivered',
            timestamp: '2026-11-20T09:30:02.000Z',
            data: {
              messageId: 'msg_01kah3b9mzf5vt2d0wq8r6x4ye',
              waMessageId: 'wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA',
              status: 'delivered',
              to: '34600111222',
              template: 'order_shipped',
              language: 'en',
              accountId: 'wa_01kah39zr4e8m5n6p7q8s9t0vw',
              externalId: 'order-1042',
            },
          },
        },
      ],
    },
  },
})
