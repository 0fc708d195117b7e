import { expect, test } from 'vitest'
import {
  BodyComponent,
  BodyParameter,
  CarouselCard,
  CarouselComponent,
  CatalogProduct,
  CopyComponent,
  Document,
  FlowComponent,
  HeaderComponent,
  HeaderParameter,
  Image,
  LTOComponent,
  MPMComponent,
  PayloadComponent,
  Product,
  ProductSection,
  SkipButtonComponent,
  Template,
  URLComponent,
  Video,
} from 'whatsapp-api-js/messages'
import { toComponents } from '../../../src/whatsapp/client/send-template.ts'

/** The components that a third-party client builds for the same message (reference, section 7.1). */

type Message = Parameters<typeof toComponents>[0]

function plain(value: unknown): object[] {
  return JSON.parse(JSON.stringify(value)) as object[]
}

/** Positions are text in some clients and numbers in others; WhatsApp accepts both. */
function withNumbers(components: object[]): object[] {
  return components.map((component) =>
    'index' in component ? { ...component, index: Number(component.index) } : component,
  )
}

const body = { parameters: [{ text: 'Ada' }] }
const bodyOfOther = new BodyComponent(new BodyParameter('Ada'))
const build = (...components: ConstructorParameters<typeof Template>[2][]) =>
  plain(new Template('any', 'en', ...components).components)

test.each<{ kind: string; message: Message; theirs: () => object[] }>([
  {
    kind: 'a header variable',
    message: { ...body, header: { kind: 'text', text: 'A-1' } },
    theirs: () => build(new HeaderComponent(new HeaderParameter('A-1')), bodyOfOther),
  },
  {
    kind: 'an image by link',
    message: { ...body, header: { kind: 'image', media: { link: 'https://example.com/a.png' } } },
    theirs: () => build(new HeaderComponent(new HeaderParameter(new Image('https://example.com/a.png'))), bodyOfOther),
  },
  {
    kind: 'a video by ID',
    message: { ...body, header: { kind: 'video', media: { id: '42' } } },
    theirs: () => build(new HeaderComponent(new HeaderParameter(new Video('42', true))), bodyOfOther),
  },
  {
    kind: 'a document with its name',
    message: { ...body, header: { kind: 'document', media: { id: '42' }, filename: 'a.pdf' } },
    theirs: () =>
      build(new HeaderComponent(new HeaderParameter(new Document('42', true, undefined, 'a.pdf'))), bodyOfOther),
  },
  {
    kind: 'a product',
    message: { ...body, header: { kind: 'product', catalogId: '77', productId: 'sku-1' } },
    theirs: () => build(new HeaderComponent(new HeaderParameter(new CatalogProduct('sku-1', '77'))), bodyOfOther),
  },
  {
    kind: 'a quick reply, a static button and a URL button',
    message: {
      ...body,
      buttons: [
        { index: 0, kind: 'quickReply', payload: 'yes-7' },
        { index: 2, kind: 'url', text: 'A-1' },
      ],
    },
    theirs: () => build(bodyOfOther, new PayloadComponent('yes-7'), new SkipButtonComponent(), new URLComponent('A-1')),
  },
  {
    kind: 'a coupon code',
    message: { ...body, buttons: [{ index: 0, kind: 'copyCode', couponCode: 'SPRING9' }] },
    theirs: () => build(bodyOfOther, new CopyComponent('SPRING9')),
  },
  {
    kind: 'a flow',
    message: { ...body, buttons: [{ index: 0, kind: 'flow', token: 't-1', data: { k: 'v' } }] },
    theirs: () => build(bodyOfOther, new FlowComponent('t-1', { k: 'v' })),
  },
  {
    kind: 'a multi-product button',
    message: {
      ...body,
      buttons: [
        {
          index: 0,
          kind: 'products',
          thumbnailProductId: 'sku-1',
          sections: [{ title: 'Top', productIds: ['sku-1', 'sku-2'] }],
        },
      ],
    },
    theirs: () =>
      build(
        bodyOfOther,
        new MPMComponent(new Product('sku-1'), new ProductSection('Top', new Product('sku-1'), new Product('sku-2'))),
      ),
  },
  {
    kind: 'a one-time code',
    message: { parameters: [{ text: '481516' }], buttons: [{ index: 0, kind: 'url', text: '481516' }] },
    theirs: () => plain(Template.OTP('any', 'en', '481516').components),
  },
  {
    kind: 'a limited-time offer',
    message: { ...body, limitedTimeOffer: { expiresAt: new Date(1_861_920_000_000) } },
    theirs: () => build(bodyOfOther, new LTOComponent(1_861_920_000_000)),
  },
  {
    kind: 'a carousel',
    message: {
      ...body,
      cards: [
        {
          parameters: [{ text: 'EUR 9' }],
          header: { kind: 'image', media: { id: '1' } },
          buttons: [{ index: 0, kind: 'url', text: 'aloe' }],
        },
        { parameters: [], header: { kind: 'video', media: { link: 'https://example.com/m.mp4' } } },
      ],
    },
    theirs: () =>
      build(
        bodyOfOther,
        new CarouselComponent(
          new CarouselCard(
            new Image('1', true),
            new BodyComponent(new BodyParameter('EUR 9')),
            new URLComponent('aloe'),
          ),
          new CarouselCard(new Video('https://example.com/m.mp4')),
        ),
      ),
  },
])('Waybill and whatsapp-api-js build the same request for $kind', ({ message, theirs }) => {
  const [ours, others] = [plain(toComponents(message)), theirs()].map((components) =>
    deepNumbers(withNumbers(components)),
  )
  expect(ours).toEqual(others)
})

/** The buttons of cards have positions too. */
function deepNumbers(components: object[]): object[] {
  return components.map((component) => {
    if (!('cards' in component)) return component
    const cards = component.cards as { components: object[] }[]
    return { ...component, cards: cards.map((card) => ({ ...card, components: withNumbers(card.components) })) }
  })
}
