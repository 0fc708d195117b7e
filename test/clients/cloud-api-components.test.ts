import { beforeAll, describe, expect, test } from 'vitest'
import type { TemplateDefinition, TemplateHeaderDefinition } from '../../contracts/templates/definition.ts'
import { findTemplateProblems } from '../../contracts/templates/rules.ts'
import type { StoredComponent } from '../../src/platform/db/schema.ts'
import { toComponents as toSentComponents } from '../../src/whatsapp/client/send-template.ts'
import { toComponents, toDefinition, toParameterFormat } from '../../src/whatsapp/template-components.ts'
import { reportMissing } from '../support/process.ts'
import { copyProgram, listMissing, pythonCommand, run } from './tools.ts'

/** Waybill and pywa build the same components, of messages and of new templates. */

type Message = Parameters<typeof toSentComponents>[0]

interface CreatedTemplate {
  name: string
  language: string
  category: string
  message_send_ttl_seconds?: number
  components: StoredComponent[]
}

const missing = listMissing(['python3'])
if (missing.length > 0) reportMissing('comparing components with pywa', missing.join(' and '))

describe.skipIf(missing.length > 0)('Waybill and pywa', () => {
  let theirs: { sent: Record<string, object[]>; created: Record<string, CreatedTemplate> }
  beforeAll(async () => {
    const { program } = await copyProgram('cloud-api', 'cloud-api-components')
    const python = await pythonCommand('python', 'cloud-api/requirements.txt')
    theirs = JSON.parse(await run(program, python, ['components_with_pywa.py'])) as typeof theirs
  })

  const nothing = { parameters: [] }
  const sent: Record<string, Message> = {
    positional: { header: { kind: 'text', text: 'A-1' }, parameters: [{ text: 'Ada' }, { text: '25%' }] },
    named: { header: { kind: 'text', name: 'order', text: 'A-1' }, parameters: [{ name: 'first_name', text: 'Ada' }] },
    image: { ...nothing, header: { kind: 'image', media: { id: '42' } } },
    video: { ...nothing, header: { kind: 'video', media: { id: '42' } } },
    document: { ...nothing, header: { kind: 'document', media: { id: '42' } } },
    location: {
      ...nothing,
      header: { kind: 'location', latitude: 48.13, longitude: 11.57, name: 'Depot 7', address: 'Ringstr. 1' },
    },
    product: { ...nothing, header: product('sku-1') },
    quickReply: { ...nothing, buttons: [{ index: 0, kind: 'quickReply', payload: 'yes-7' }] },
    url: { ...nothing, buttons: [{ index: 1, kind: 'url', text: 'A-1' }] },
    copyCode: { ...nothing, buttons: [{ index: 0, kind: 'copyCode', couponCode: 'SPRING9' }] },
    flow: { ...nothing, buttons: [{ index: 0, kind: 'flow', token: 't-1', data: { k: 'v' } }] },
    catalog: { ...nothing, buttons: [{ index: 0, kind: 'catalog', thumbnailProductId: 'sku-1' }] },
    products: {
      ...nothing,
      buttons: [
        {
          index: 0,
          kind: 'products',
          thumbnailProductId: 'sku-1',
          sections: [{ title: 'Top', productIds: ['sku-1', 'sku-2'] }],
        },
      ],
    },
    code: { ...nothing, buttons: [{ index: 0, kind: 'url', text: '481516' }] },
    carousel: {
      parameters: [{ text: 'Ada' }],
      cards: [
        { id: '1', price: 'EUR 9', slug: 'aloe' },
        { id: '2', price: 'EUR 12', slug: 'buddha' },
      ].map(({ id, price, slug }, index) => ({
        header: { kind: 'image', media: { id } },
        parameters: [{ text: price }],
        buttons: [
          { index: 0, kind: 'quickReply', payload: `more-${index}` },
          { index: 1, kind: 'url', text: slug },
        ],
      })),
    },
    productCarousel: {
      ...nothing,
      cards: ['sku-1', 'sku-2'].map((productId) => ({ ...nothing, header: product(productId) })),
    },
  }

  test.each(Object.entries(sent))('build the same message for %s', (kind, message) => {
    expect(toComparable(toSentComponents(message))).toEqual(toComparable(theirs.sent[kind]))
  })

  test('build the same offer, except that pywa 4.5 sends its end in seconds instead of milliseconds', () => {
    const ours = toSentComponents({ ...nothing, limitedTimeOffer: { expiresAt: new Date('2029-01-01T00:00:00Z') } })
    const inSeconds = JSON.stringify(ours).replace('1861920000000', '1861920000')
    expect(toComparable(JSON.parse(inSeconds))).toEqual(toComparable(theirs.sent['offer']))
  })

  test('are compared in every kind of message that pywa builds', () => {
    expect(Object.keys(theirs.sent).toSorted()).toEqual([...Object.keys(sent), 'offer'].toSorted())
  })

  const names = [
    'authentication_code_autofill_button',
    'authentication_code_copy_code_button',
    'zero_tap_auth_template',
    'seasonal_promotion',
    'named_parameters',
    'order_confirmation',
    'video_header',
    'order_delivery_update',
    'abandoned_cart_offer',
    'intro_catalog_offer',
    'coupon_code_fall2023_25off',
    'abandoned_cart',
    'flow_and_call',
    'limited_time_offer_caribbean_pkg_2023',
    'carousel_template_media_cards_v1',
    'carousel_template_product_cards_v1',
  ]

  test.each(names)('create the same template %s', (name) => {
    const template = theirs.created[name]
    if (!template) throw new Error('pywa did not build it')
    const definition = readDefinition(template)

    expect(findTemplateProblems(definition)).toEqual([])
    expect(toComparable(toComponents(definition))).toEqual(toComparable(template.components))
    expect(toParameterFormat(definition)).toBe(name === 'named_parameters' ? 'NAMED' : 'POSITIONAL')
  })

  test('are compared in every template that pywa builds', () => {
    expect(Object.keys(theirs.created)).toEqual(names)
  })
})

/** Parses what pywa would send to WhatsApp as a definition. WhatsApp does not list samples. */
function readDefinition(template: CreatedTemplate): TemplateDefinition {
  const definition = toDefinition(template)
  if (typeof definition === 'string') throw new Error(definition)
  const { header, cards, ...rest } = definition
  const theirCards = template.components.find(({ type }) => type === 'CAROUSEL')?.cards
  return {
    ...rest,
    ...(header && { header: withSample(header, template.components) }),
    ...(cards && {
      cards: cards.map((card, index) => ({
        ...card,
        header: withSample(card.header, theirCards?.[index]?.components ?? []),
      })),
    }),
    ...(template.message_send_ttl_seconds !== undefined && { ttlSeconds: template.message_send_ttl_seconds }),
  }
}

function withSample(header: TemplateHeaderDefinition, components: StoredComponent[]): TemplateHeaderDefinition {
  const handles = components.find(({ type }) => type === 'HEADER')?.example?.['header_handle'] as string[] | undefined
  return handles?.[0] === undefined ? header : { ...header, sample: { handle: handles[0] } }
}

const lowerCased = new Set(['type', 'sub_type'])
const numbers = new Set(['index', 'latitude', 'longitude'])

/** WhatsApp accepts types in either case, and positions and degrees as text or number. */
function toComparable(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => {
    if (typeof inner === 'string' && lowerCased.has(key)) return inner.toLowerCase()
    return typeof inner === 'string' && numbers.has(key) ? Number(inner) : inner
  })
}

function product(productId: string): NonNullable<Message['header']> {
  return { kind: 'product', catalogId: '77', productId }
}
