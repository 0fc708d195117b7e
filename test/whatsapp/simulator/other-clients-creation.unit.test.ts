import { TemplateDefinition as kapsoTemplates, WhatsAppClient } from '@kapso/whatsapp-cloud-api'
import { expect, test } from 'vitest'
import { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import { findTemplateProblems } from '../../../contracts/templates/rules.ts'
import type { StoredComponent } from '../../../src/platform/db/schema.ts'
import { toComponents, toDefinition, toParameterFormat } from '../../../src/whatsapp/template-components.ts'

/** What a third-party client posts to create the same template. Its inputs follow its own tests. */

type Input = Parameters<typeof kapsoTemplates.buildTemplateDefinition>[0]
type Body = {
  name: string
  language: string
  category: string
  parameter_format?: string
  components: StoredComponent[]
}

/** The body of the request, which the client writes in Meta's spelling. */
async function post(input: Input): Promise<Body> {
  let body = ''
  const client = new WhatsAppClient({
    accessToken: 'token',
    fetch: (_, init) => {
      body = String(init?.body)
      return Promise.resolve(Response.json({ id: '1', status: 'PENDING', category: 'UTILITY' }))
    },
  })
  const { components, ...rest } = kapsoTemplates.buildTemplateDefinition(input)
  await client.templates.create({
    ...rest,
    businessAccountId: '1',
    // Copied because the client's builder returns a stricter type than its sender accepts.
    components: components.map((component) => ({ ...component })),
  })
  return JSON.parse(body) as Body
}

const start = { name: 'any', language: 'en_US', category: 'MARKETING' } as const
const pablo = { text: 'Rare succulents for {{1}}!', examples: { '1': 'Pablo' } }
const pabloOfOther = { type: 'BODY', text: 'Rare succulents for {{1}}!', example: { bodyText: [['Pablo']] } } as const
const plain = { text: 'Have a look.' }
const plainOfOther = { type: 'BODY', text: 'Have a look.' } as const
const buttonsOfOther = (...buttons: object[]) => ({ type: 'BUTTONS', buttons })
const mediaOfOther = (format: string) => ({ type: 'HEADER', format, example: { headerHandle: ['4::aW'] } })
const sample = { handle: '4::aW' }
const app = { packageName: 'com.example.luckyshrub', signatureHash: 'K8a/AINcGX7' }
const shop = { text: 'Shop', url: 'https://example.com/{{1}}' }

interface Row {
  ours: object
  theirs: object[]
  category?: string
  parameterFormat?: string
}

test.each(
  Object.entries<Row>({
    'a body': { ours: { body: plain }, theirs: [plainOfOther] },
    'a numbered variable': { ours: { body: pablo }, theirs: [pabloOfOther] },
    'named variables': {
      ours: { body: { text: 'Hello {{first_name}}.', examples: { first_name: 'Pablo' } } },
      theirs: [
        {
          type: 'BODY',
          text: 'Hello {{first_name}}.',
          example: { bodyTextNamedParams: [{ paramName: 'first_name', example: 'Pablo' }] },
        },
      ],
      parameterFormat: 'NAMED',
    },
    'a header variable and a footer': {
      ours: { header: { format: 'TEXT', text: 'Starts {{1}}!', example: 'May 1' }, body: plain, footer: 'Lucky Shrub' },
      theirs: [
        { type: 'HEADER', format: 'TEXT', text: 'Starts {{1}}!', example: { headerText: ['May 1'] } },
        plainOfOther,
        { type: 'FOOTER', text: 'Lucky Shrub' },
      ],
    },
    ...Object.fromEntries(
      ['IMAGE', 'VIDEO', 'DOCUMENT'].map((format) => [
        `a header of format ${format}`,
        { ours: { header: { format, sample }, body: plain }, theirs: [mediaOfOther(format), plainOfOther] },
      ]),
    ),
    'a location': {
      ours: { header: { format: 'LOCATION' }, body: plain },
      theirs: [{ type: 'HEADER', format: 'LOCATION' }, plainOfOther],
    },
    'buttons of several kinds': {
      ours: {
        body: plain,
        buttons: [
          { type: 'QUICK_REPLY', text: 'Yes' },
          { type: 'URL', ...shop, example: 'cactus' },
          { type: 'PHONE_NUMBER', text: 'Call', phoneNumber: '+15550051310' },
          { type: 'COPY_CODE', example: 'SPRING9' },
        ],
      },
      theirs: [
        plainOfOther,
        buttonsOfOther(
          { type: 'QUICK_REPLY', text: 'Yes' },
          { type: 'URL', ...shop, example: ['cactus'] },
          { type: 'PHONE_NUMBER', text: 'Call', phoneNumber: '+15550051310' },
          { type: 'COPY_CODE', example: 'SPRING9' },
        ),
      ],
    },
    'a flow': {
      ours: {
        body: plain,
        buttons: [{ type: 'FLOW', text: 'Start', flowId: '1', flowAction: 'navigate', navigateScreen: 'A' }],
      },
      theirs: [
        plainOfOther,
        buttonsOfOther({ type: 'FLOW', text: 'Start', flowId: '1', flowAction: 'navigate', navigateScreen: 'A' }),
      ],
    },
    'a catalogue': {
      ours: { body: plain, buttons: [{ type: 'CATALOG' }] },
      theirs: [plainOfOther, buttonsOfOther({ type: 'CATALOG', text: 'View catalog' })],
    },
    'several products': {
      ours: { body: plain, buttons: [{ type: 'MPM' }] },
      theirs: [plainOfOther, buttonsOfOther({ type: 'MPM', text: 'View items' })],
    },
    'one product': {
      ours: { header: { format: 'PRODUCT' }, body: plain, buttons: [{ type: 'SPM' }] },
      theirs: [{ type: 'HEADER', format: 'PRODUCT' }, plainOfOther, buttonsOfOther({ type: 'SPM', text: 'View' })],
    },
    'a limited-time offer': {
      ours: {
        header: { format: 'IMAGE', sample },
        body: plain,
        limitedTimeOffer: { text: 'Ends soon!', expires: true },
        buttons: [{ type: 'URL', ...shop, example: 'cactus' }],
      },
      theirs: [
        mediaOfOther('IMAGE'),
        { type: 'LIMITED_TIME_OFFER', limitedTimeOffer: { text: 'Ends soon!', hasExpiration: true } },
        plainOfOther,
        buttonsOfOther({ type: 'URL', ...shop, example: ['cactus'] }),
      ],
    },
    'cards with pictures': {
      ours: {
        body: pablo,
        cards: ['succulent', 'cactus'].map((example) => ({
          header: { format: 'IMAGE', sample },
          buttons: [
            { type: 'QUICK_REPLY', text: 'More' },
            { type: 'URL', ...shop, example },
          ],
        })),
      },
      theirs: [
        pabloOfOther,
        {
          type: 'CAROUSEL',
          cards: ['succulent', 'cactus'].map((example) => ({
            components: [
              mediaOfOther('IMAGE'),
              buttonsOfOther({ type: 'QUICK_REPLY', text: 'More' }, { type: 'URL', ...shop, example: [example] }),
            ],
          })),
        },
      ],
    },
    'cards with products': {
      ours: { body: pablo, cards: [1, 2].map(() => ({ header: { format: 'PRODUCT' }, buttons: [{ type: 'SPM' }] })) },
      theirs: [
        pabloOfOther,
        {
          type: 'CAROUSEL',
          cards: [1, 2].map(() => ({
            components: [{ type: 'HEADER', format: 'PRODUCT' }, buttonsOfOther({ type: 'SPM', text: 'View' })],
          })),
        },
      ],
    },
    'a code to copy': {
      category: 'AUTHENTICATION',
      ours: {
        authentication: {
          otpType: 'COPY_CODE',
          addSecurityRecommendation: true,
          expirationMinutes: 5,
          text: 'Copy Code',
        },
      },
      theirs: [
        { type: 'BODY', addSecurityRecommendation: true },
        { type: 'FOOTER', codeExpirationMinutes: 5 },
        buttonsOfOther({ type: 'OTP', otpType: 'COPY_CODE', text: 'Copy Code' }),
      ],
    },
    'a one-tap code': {
      category: 'AUTHENTICATION',
      ours: {
        authentication: {
          otpType: 'ONE_TAP',
          addSecurityRecommendation: true,
          text: 'Copy Code',
          autofillText: 'Autofill',
          apps: [app],
        },
      },
      theirs: [
        { type: 'BODY', addSecurityRecommendation: true },
        buttonsOfOther({
          type: 'OTP',
          otpType: 'ONE_TAP',
          text: 'Copy Code',
          autofillText: 'Autofill',
          supportedApps: [app],
        }),
      ],
    },
  }),
)(
  'Waybill and @kapso/whatsapp-cloud-api create the same template with %s',
  async (_kind, { ours, theirs, category = 'MARKETING', parameterFormat = 'POSITIONAL' }) => {
    const definition = TemplateDefinition.parse({ ...start, category, ...ours })
    const body = await post({ ...start, category, parameterFormat, components: theirs } as Input)

    expect(findTemplateProblems(definition)).toEqual([])
    expect(body).toEqual({
      ...start,
      category,
      parameter_format: toParameterFormat(definition),
      components: toComponents(definition),
    })
    // And back: parses the client's request as a definition.
    expect(toDefinition(body)).toEqual(withoutSamples(definition))
  },
)

test('reads a template whose list of apps has an entry that is none', () => {
  const buttons = [{ type: 'OTP', otp_type: 'ONE_TAP', text: 'Copy', supported_apps: [null] }]
  const components = [
    { type: 'BODY', text: '*{{1}}* is your code.' },
    { type: 'BUTTONS', buttons },
  ]
  const listed = { ...start, category: 'AUTHENTICATION', parameter_format: 'POSITIONAL', components }

  expect(() => toDefinition(listed)).not.toThrow()
})

/** WhatsApp does not return samples. */
function withoutSamples(definition: TemplateDefinition): unknown {
  return JSON.parse(JSON.stringify(definition), (key, value: unknown) => (key === 'sample' ? undefined : value))
}
