import { z } from 'zod'
import { Timestamp, withExample } from '../fields.ts'
import { defineEvent } from './event.ts'

/** Reported to the other endpoints of the account. */
export const EndpointFailingEvent = defineEvent({
  type: 'endpoint.failing',
  id: 'EndpointFailingEvent',
  summary: 'A webhook endpoint fails',
  description: 'A webhook endpoint of the account fails.',
  texts: { data: 'The endpoint that fails.', timestamp: 'When it was noticed.' },
  schema: z.object({
    endpointId: withExample(z.string(), 'ID of the endpoint that fails.', 'ep_01kah38x7w6c5b4a3z2y1x0wvt'),
    host: withExample(z.string(), 'Host of its URL. The rest of the URL can hold secrets.', 'hooks.example.com'),
    disabled: z.boolean().describe('Whether Waybill has disabled it, so that its deliveries wait.'),
    failingSince: Timestamp.optional().describe('Since when every attempt has failed.'),
    reason: withExample(z.string().optional(), 'Why it is disabled; absent if it is not.', 'it answered 410 Gone'),
  }),
  example: {
    timestamp: '2026-11-20T09:35:00.000Z',
    data: {
      endpointId: 'ep_01kah38x7w6c5b4a3z2y1x0wvt',
      host: 'hooks.example.com',
      disabled: false,
      failingSince: '2026-11-20T09:30:00.000Z',
    },
  },
})
export type EndpointFailingEvent = z.infer<typeof EndpointFailingEvent>

/** Sent on request only, to test an endpoint. */
export const TestEvent = defineEvent({
  type: 'webhook.test',
  id: 'TestEvent',
  summary: 'Test event',
  description: 'A test that the account owner asked for.',
  texts: {
    type: 'A test: nothing happened.',
    timestamp: 'When the test was asked for.',
    data: 'The tested endpoint.',
  },
  schema: z.object({ endpointId: z.string().describe('ID of the tested endpoint.') }),
  example: {
    timestamp: '2026-11-20T09:25:00.000Z',
    data: { endpointId: 'ep_01kah38x7w6c5b4a3z2y1x0wvt' },
  },
})
