import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SendMessageRequest } from '../../contracts/api/message.ts'
import type { StoredComponent } from '../../src/platform/db/schema.ts'
import { writeExample } from '../../src/templates/template.ts'
import { writeSendSchema } from '../../src/templates/send-schema.ts'
import { fillTemplate } from '../../src/templates/fill/values.ts'
import { toComponents } from '../../src/whatsapp/client/send-template.ts'
import { demoTemplates } from '../../src/whatsapp/simulator/templates/demo-templates.ts'
import { SendComponents } from '../../src/whatsapp/simulator/messages/send-components.ts'
import { checkTemplate } from '../../src/whatsapp/simulator/messages/template-check.ts'
import type { GraphTemplate } from '../../src/whatsapp/simulator/templates/template-list.ts'

// Each validator runs once, and optimizing it takes longer.
const ajv = new Ajv2020({ strict: false, code: { optimize: false } })
addFormats.default(ajv)

interface Made {
  category: 'UTILITY' | 'AUTHENTICATION'
  named: boolean
  components: StoredComponent[]
}

/** Examples among them that cannot be sent: empty, too long, with a line break. */
const example = fc.oneof(
  fc.string({ minLength: 1, maxLength: 20 }),
  fc.constantFrom('', 'a\nb', 'x'.repeat(2000), 'https://example.com/whole'),
)
const label = fc.stringMatching(/^[A-Za-z ]{1,25}$/)

function header(named: boolean): fc.Arbitrary<StoredComponent[]> {
  const variable = named ? '{{order}}' : '{{1}}'
  const media = fc.constantFrom('IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION', 'PRODUCT')
  return fc.oneof(
    fc.constant<StoredComponent[]>([]),
    fc.stringMatching(/^[A-Za-z ]{1,60}$/).map((text) => [{ type: 'HEADER', format: 'TEXT', text }]),
    fc.tuple(fc.stringMatching(/^[A-Za-z]{0,50}$/), example).map(([text, value]) => [
      {
        type: 'HEADER',
        format: 'TEXT',
        text: `${text}${variable}`,
        example: named
          ? { header_text_named_params: [{ param_name: 'order', example: value }] }
          : { header_text: [value] },
      },
    ]),
    media.map((format) => [
      { type: 'HEADER', format, example: { header_handle: ['https://scontent.whatsapp.net/x'] } },
    ]),
  )
}

function body(named: boolean): fc.Arbitrary<StoredComponent> {
  return fc.array(example, { maxLength: 5 }).map((examples) => {
    const names = examples.map((_, at) => (named ? `name_${at}` : String(at + 1)))
    return {
      type: 'BODY',
      text: `Hello ${names.map((name) => `{{${name}}} and`).join(' ')} so on.`,
      example: named
        ? { body_text_named_params: names.map((name, at) => ({ param_name: name, example: examples[at] ?? '' })) }
        : { body_text: [examples] },
    }
  })
}

const url = fc.stringMatching(/^https:\/\/[a-z]{1,20}\.example\/[a-z]{0,20}$/)
const button = fc.oneof(
  label.map((text) => ({ type: 'QUICK_REPLY', text })),
  label.map((text) => ({ type: 'PHONE_NUMBER', text, phone_number: '+34600111222' })),
  fc.tuple(label, url).map(([text, address]) => ({ type: 'URL', text, url: address })),
  fc.tuple(label, url, example).map(([text, address, value]) => ({
    type: 'URL',
    text,
    url: `${address}{{1}}`,
    example: [value],
  })),
  fc
    .tuple(label, url)
    .map(([text, address]) => ({ type: 'URL', text, url: `${address}{{1}}`, example: [`${address}A-1`] })),
  example.map((value) => ({ type: 'COPY_CODE', text: 'Copy code', example: value })),
  label.map((text) => ({ type: 'FLOW', text })),
  fc.constantFrom(
    { type: 'CATALOG', text: 'View catalog' },
    { type: 'MPM', text: 'View items' },
    { type: 'VOICE_CALL' },
    { type: 'REQUEST_CONTACT_INFO', text: 'Share Contact Info' },
  ),
)

const ordinary: fc.Arbitrary<Made> = fc.boolean().chain((named) =>
  fc
    .tuple(header(named), body(named), fc.option(label), fc.array(button, { maxLength: 10 }))
    .map(([head, text, footer, buttons]) => ({
      category: 'UTILITY' as const,
      named,
      components: [
        ...head,
        text,
        ...(footer === null ? [] : [{ type: 'FOOTER', text: footer }]),
        ...(buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons }]),
      ],
    })),
)

/** All cards of a carousel have the same parts (reference, section 1.5). */
const carousel: fc.Arbitrary<Made> = fc
  .record({
    named: fc.boolean(),
    format: fc.constantFrom('IMAGE', 'VIDEO', 'PRODUCT'),
    text: fc.option(example),
    cardButton: button,
    count: fc.integer({ min: 2, max: 10 }),
    hasExpiration: fc.option(fc.boolean()),
  })
  .map(({ named, format, text, cardButton, count, hasExpiration }) => ({
    category: 'UTILITY',
    named,
    components: [
      { type: 'BODY', text: 'Have a look.' },
      ...(hasExpiration === null
        ? []
        : [{ type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Soon over', has_expiration: hasExpiration } }]),
      {
        type: 'CAROUSEL',
        cards: Array.from({ length: count }, () => ({
          components: [
            { type: 'HEADER', format },
            ...(text === null
              ? []
              : [
                  named
                    ? {
                        type: 'BODY',
                        text: 'Only {{price}} now.',
                        example: { body_text_named_params: [{ param_name: 'price', example: text }] },
                      }
                    : { type: 'BODY', text: 'Only {{1}} now.', example: { body_text: [[text]] } },
                ]),
            { type: 'BUTTONS', buttons: [cardButton] },
          ],
        })),
      },
    ],
  }))

const codeButton = fc.oneof(
  fc.constantFrom('COPY_CODE', 'ONE_TAP', 'ZERO_TAP').map((kind) => ({
    type: 'URL',
    text: 'Copy code',
    url: `https://www.whatsapp.com/otp/code/?otp_type=${kind}&code=otp{{1}}`,
  })),
  fc.constant({ type: 'OTP', text: 'Copy code' }),
)
const authentication: fc.Arbitrary<Made> = fc.tuple(example, codeButton).map(([value, otp]) => ({
  category: 'AUTHENTICATION',
  named: false,
  components: [
    { type: 'BODY', text: '*{{1}}* is your code.', example: { body_text: [[value]] } },
    { type: 'BUTTONS', buttons: [otp] },
  ],
}))

function toGraph({ category, named, components }: Made): GraphTemplate {
  return {
    id: '1',
    name: 'made',
    language: 'en',
    status: 'APPROVED',
    category,
    parameter_format: named ? 'NAMED' : 'POSITIONAL',
    components,
    quality_score: { score: 'GREEN', date: 0 },
    rejected_reason: 'NONE',
  }
}

/** Checks a template's own example with the contract, the send, the published schema and the simulator. */
function judge(graph: GraphTemplate) {
  const { name, language, components, parameter_format: parameterFormat } = graph
  const template = { name, language, components, parameterFormat }
  const request = writeExample(template)
  const { filled, problems } = fillTemplate(template, request ?? {})
  const asSent: unknown = JSON.parse(JSON.stringify(toComponents(filled)))
  const validate = ajv.compile(writeSendSchema(template) ?? false)
  return {
    contract: SendMessageRequest.safeParse(request).success,
    problems,
    schema: validate(request) ? [] : validate.errors,
    simulator: checkTemplate(graph, SendComponents.parse(asSent)),
  }
}

const accepted = { contract: true, problems: [], schema: [], simulator: undefined }

test('generates an example of any template that the contract, the send, its schema and WhatsApp accept', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: ordinary }, carousel, authentication), (made) => {
      expect(judge(toGraph(made))).toEqual(accepted)
    }),
    { numRuns: 300 },
  )
})

test.each(demoTemplates.map((template) => ({ name: `${template.name} ${template.language ?? 'en'}`, template })))(
  'the example of the demo template $name is accepted',
  ({ template }) => {
    const made = { category: 'UTILITY' as const, named: false, components: template.components ?? [] }
    expect(judge({ ...toGraph(made), ...template, language: template.language ?? 'en', status: 'APPROVED' })).toEqual(
      accepted,
    )
  },
)

test('uses the values of the template in its example, but not the URL of its sample', () => {
  const template = {
    name: 'invoice',
    language: 'en',
    parameterFormat: 'POSITIONAL',
    components: [
      { type: 'HEADER', format: 'DOCUMENT', example: { header_handle: ['https://scontent.whatsapp.net/v/1'] } },
      { type: 'BODY', text: 'Hello {{1}}.', example: { body_text: [['Ada']] } },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Paid' },
          { type: 'URL', text: 'View', url: 'https://example.com/i/{{1}}', example: ['https://example.com/i/B-7'] },
        ],
      },
    ],
  }

  expect(writeExample(template)).toEqual({
    to: '34600111222',
    template: 'invoice',
    language: 'en',
    variables: { '1': 'Ada' },
    header: { document: { link: 'https://example.com/document.pdf', filename: 'document.pdf' } },
    buttons: [{ index: 1, url: 'B-7' }],
  })
})

test.each([
  { what: 'without a variable', change: { variables: {} } },
  { what: 'without the header', change: { header: undefined } },
  { what: 'with another header', change: { header: { text: 'x' } } },
  { what: 'without the required button', change: { buttons: [{ index: 0, payload: 'x' }] } },
  { what: 'with a field that the template has no use for', change: { code: '1' } },
  { what: 'for another template', change: { template: 'other' } },
])('rejects a send $what by the schema of a template', ({ change }) => {
  const template = {
    name: 'invoice',
    language: 'en',
    parameterFormat: 'POSITIONAL',
    components: [
      { type: 'HEADER', format: 'IMAGE' },
      { type: 'BODY', text: 'Hello {{1}}.' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Paid' },
          { type: 'URL', text: 'View', url: 'https://example.com/i/{{1}}' },
        ],
      },
    ],
  }
  const validate = ajv.compile(writeSendSchema(template) ?? false)
  const good = writeExample(template)

  expect(validate(good)).toBe(true)
  expect(validate(JSON.parse(JSON.stringify({ ...good, ...change })))).toBe(false)
})

const greeting = { type: 'BODY', text: 'Hello {{1}}.' }
const copyCode = { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] }

test.each([
  { who: 'a number', to: '34600111222', isValid: true },
  { who: 'a user ID', recipient: 'ES.2041776300912345', isValid: true },
  { who: 'both', to: '34600111222', recipient: 'ES.2041776300912345', isValid: true },
  { who: 'nobody', isValid: false },
])('accepts a send to $who by the schema as the contract does: $isValid', ({ to, recipient, isValid }) => {
  const template = { name: 'hello', language: 'en', parameterFormat: 'POSITIONAL', components: [greeting] }
  const { to: _, ...request } = writeExample(template) ?? {}
  const send = { ...request, ...(to && { to }), ...(recipient && { recipient }) }

  expect(SendMessageRequest.safeParse(send).success).toBe(isValid)
  expect(ajv.compile(writeSendSchema(template) ?? false)(send)).toBe(isValid)
})

test('requires a number by the schema of a template with a one-time code', () => {
  const template = { name: 'code', language: 'en', parameterFormat: 'POSITIONAL', components: [copyCode] }
  const validate = ajv.compile(writeSendSchema(template) ?? false)
  const { to: _, ...request } = writeExample(template) ?? {}

  expect(validate(writeExample(template))).toBe(true)
  expect(validate({ ...request, recipient: 'ES.2041776300912345' })).toBe(false)
})

test('generates neither example nor schema for a template with an unknown part', () => {
  const components = [{ type: 'BODY', text: 'Hi.' }, { type: 'HOLOGRAM' }]
  const template = { name: 'new', language: 'en', parameterFormat: 'POSITIONAL', components }

  expect(writeExample(template)).toBeUndefined()
  expect(writeSendSchema(template)).toBeUndefined()
})
