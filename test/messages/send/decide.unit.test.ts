import { describe, expect, test } from 'vitest'
import type { SendMessageRequest } from '../../../contracts/api/message.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { inactiveReasons } from '../../../contracts/facts/findings.ts'
import {
  decide,
  type SendFacts,
  type SendableTemplate,
  type SendingAccount,
} from '../../../src/messages/send/decide.ts'

const account: SendingAccount = {
  id: 'wa_1',
  phoneNumberId: '190000000000001',
  wabaId: '290000000000001',
  accessTokenEncrypted: 'encrypted',
  inactiveReason: undefined,
}
const shipped: SendableTemplate = {
  status: 'APPROVED',
  category: 'UTILITY',
  parameterFormat: 'POSITIONAL',
  components: [{ type: 'BODY', text: 'Hi {{1}}, order {{2}} is on its way.' }],
}
const login: SendableTemplate = {
  status: 'APPROVED',
  category: 'AUTHENTICATION',
  parameterFormat: 'POSITIONAL',
  components: [
    { type: 'BODY', text: '{{1}} is your code.' },
    {
      type: 'BUTTONS',
      buttons: [{ type: 'URL', text: 'Copy code', url: 'https://www.whatsapp.com/otp/code/?code={{1}}' }],
    },
  ],
}
const sendable: SendFacts = {
  whatsAppAccount: account,
  template: shipped,
  emitSentEvent: true,
  suppressionRule: { category: 'UTILITY', all: false },
  storesContent: true,
  route: ['messages'],
}
const request: SendMessageRequest = {
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  variables: { '1': 'Ada', '2': 'WB-1' },
}

function refuse(facts: Partial<SendFacts>, input: Partial<SendMessageRequest> = {}): ServiceError {
  try {
    decide({ ...sendable, ...facts }, { ...request, ...input })
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('the message may be sent')
}

const inactive = { ...account, inactiveReason: inactiveReasons.byUser() }
const none = { whatsAppAccount: undefined, template: undefined }
const noValues = { variables: {} }

describe('rejects a send', () => {
  test.each(
    Object.entries<{ facts?: Partial<SendFacts>; input?: Partial<SendMessageRequest>; code: string; says: string }>({
      'no account is the default': { facts: none, code: 'NO_ACTIVE_ACCOUNT', says: 'No default WhatsApp account' },
      'the named account is not of the caller': {
        facts: none,
        input: { accountId: 'wa_2' },
        code: 'NO_ACTIVE_ACCOUNT',
        says: 'no WhatsApp account of yours',
      },
      'the account is inactive, even if the template is unknown too': {
        facts: { whatsAppAccount: inactive, template: undefined },
        code: 'NO_ACTIVE_ACCOUNT',
        says: 'wa_1 is inactive: deactivated by a user',
      },
      ...Object.fromEntries(
        ['PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'SOME_NEW_STATUS'].map((status) => [
          `the template is ${status}, whatever its values are`,
          {
            facts: { template: { ...shipped, status } },
            input: noValues,
            code: 'TEMPLATE_NOT_FOUND',
            says: `its status is ${status}`,
          },
        ]),
      ),
      'a code is addressed to a user ID': {
        facts: { template: login },
        input: { to: undefined, recipient: 'ES.13491208655302741918', variables: undefined, code: '123456' },
        code: 'VALIDATION_ERROR',
        says: 'recipient: ',
      },
      'no send can fill the template': {
        facts: { template: { ...shipped, components: [...shipped.components, { type: 'NEW_PART' }] } },
        code: 'VALIDATION_ERROR',
        says: 'template: order_shipped (en) cannot be sent: it has a component of type NEW_PART, which Waybill does not know.',
      },
    }),
  )('because %s', (_because, { facts = {}, input, code, says }) => {
    const error = refuse(facts, input)

    expect(error.code).toBe(code)
    expect(error.message).toContain(says)
  })

  test('with one sentence for each problem, and the problem of each variable as a field', () => {
    const error = refuse({}, { variables: { '1': '', '3': 'x' } })

    expect(error.message).toBe(
      'variables: "2" is missing; it fills {{2}}. variables: the template takes "1", "2"; remove "3". variables: "1" must not be empty.',
    )
    expect(error.fields).toEqual({
      'variables.1': 'must not be empty.',
      'variables.2': 'is missing; it fills {{2}}.',
      variables: 'the template takes "1", "2"; remove "3".',
    })
  })

  test('with at most ten sentences, and how many more there are', () => {
    const keys = Array.from({ length: 12 }, (_, index) => String(index + 1))
    const text = keys.map((key) => `Word {{${key}}} word`).join(' ')
    const error = refuse({ template: { ...shipped, components: [{ type: 'BODY', text }] } }, noValues)

    expect(error.message).toMatch(/"10" is missing; it fills \{\{10\}\}\. And 2 more\.$/)
    expect(Object.keys(error.fields)).toHaveLength(12)
  })
})

test('leaves a template that the account does not have to a sync of its WABA', () => {
  expect(decide({ ...sendable, template: undefined }, request)).toEqual({
    kind: 'unknown-template',
    wabaId: account.wabaId,
  })
})

test('returns the filled template with what the facts say about the message', () => {
  const { whatsAppAccount, template, ...rest } = sendable

  expect(decide(sendable, request)).toEqual({
    kind: 'draft',
    from: whatsAppAccount,
    template,
    ...rest,
    filled: { parameters: [{ text: 'Ada' }, { text: 'WB-1' }] },
  })
})

test('does not store the content of a message with a code, whatever the category of its template is now', () => {
  const code = { variables: undefined, code: '123456' }

  expect(decide({ ...sendable, template: { ...login, category: 'UTILITY' } }, { ...request, ...code })).toMatchObject({
    storesContent: false,
    filled: { secrets: ['123456'] },
  })
})
