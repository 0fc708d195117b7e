import { expect, test } from 'vitest'
import type { TemplateValues } from '../../../src/templates/fill/values.ts'
import { exampleSend } from '../../support/example-send.ts'
import { findTablesWith } from '../../support/find-text.ts'
import { forFile } from '../../support/lifetime.ts'
import { startTestServer } from '../../support/server.ts'
import type { NewTemplate } from '../../../src/whatsapp/simulator/templates/template-list.ts'

const body = { type: 'BODY', text: 'Hello {{1}}.' }
const buttons = (...all: { type: string; text?: string; url?: string; example?: string[] }[]) => ({
  type: 'BUTTONS',
  buttons: all,
})
const track = { type: 'URL', text: 'Track order', url: 'https://example.com/track/{{1}}', example: ['A-1'] }
const yes = { type: 'QUICK_REPLY', text: 'Yes' }
const call = { type: 'PHONE_NUMBER', text: 'Call us', phone_number: '+34600111222' }
const products = { thumbnailProductId: 'sku-1', sections: [{ title: 'Top', productIds: ['sku-1', 'sku-2'] }] }
const withSections = (...sections: { title: string; productIds: string[] }[]) => ({
  buttons: [{ index: 0, products: { ...products, sections } }],
})

function plant(format: string) {
  return {
    components: [
      { type: 'HEADER', format },
      { type: 'BODY', text: 'Only {{1}}.' },
      buttons(yes, { type: 'URL', text: 'Buy', url: 'https://example.com/p/{{1}}' }),
    ],
  }
}
const product = { components: [{ type: 'HEADER', format: 'PRODUCT' }, buttons({ type: 'SPM', text: 'View' })] }

const templates: NewTemplate[] = [
  { name: 'text_header', components: [{ type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' }, body] },
  {
    name: 'named_header',
    parameter_format: 'NAMED',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{order}}' },
      { type: 'BODY', text: 'Hello {{name}}.' },
    ],
  },
  { name: 'plain_header', components: [{ type: 'HEADER', format: 'TEXT', text: 'News' }, body] },
  { name: 'image_header', components: [{ type: 'HEADER', format: 'IMAGE' }, body] },
  { name: 'video_header', components: [{ type: 'HEADER', format: 'VIDEO' }, body] },
  { name: 'document_header', components: [{ type: 'HEADER', format: 'DOCUMENT' }, body] },
  { name: 'location_header', components: [{ type: 'HEADER', format: 'LOCATION' }, body] },
  { name: 'product_header', components: [{ type: 'HEADER', format: 'PRODUCT' }, body, buttons({ type: 'SPM' })] },
  { name: 'url_button', components: [body, buttons(call, track)] },
  {
    name: 'long_url_button',
    components: [body, buttons({ ...track, url: `https://example.com/${'x'.repeat(1900)}{{1}}` })],
  },
  { name: 'quick_replies', components: [body, buttons(yes, { type: 'QUICK_REPLY', text: 'No' })] },
  { name: 'copy_code', components: [body, buttons({ type: 'COPY_CODE', text: 'Copy offer code' })] },
  { name: 'flow', components: [body, buttons({ type: 'FLOW', text: 'Book now' })] },
  { name: 'catalog', components: [body, buttons({ type: 'CATALOG', text: 'View catalog' })] },
  { name: 'multi_product', components: [body, buttons({ type: 'MPM', text: 'View items' })] },
  {
    name: 'one_time_code',
    category: 'AUTHENTICATION',
    components: [
      { type: 'BODY', text: '*{{1}}* is your verification code.' },
      buttons({
        type: 'URL',
        text: 'Copy code',
        url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}',
      }),
    ],
  },
  {
    name: 'otp_button',
    category: 'AUTHENTICATION',
    components: [{ type: 'BODY', text: '*{{1}}* is your code.' }, buttons({ type: 'OTP', text: 'Copy code' })],
  },
  {
    name: 'carousel',
    category: 'MARKETING',
    components: [body, { type: 'CAROUSEL', cards: [plant('IMAGE'), plant('IMAGE')] }],
  },
  {
    name: 'product_carousel',
    category: 'MARKETING',
    components: [body, { type: 'CAROUSEL', cards: [product, product] }],
  },
  {
    name: 'offer',
    category: 'MARKETING',
    components: [
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Expiring offer!', has_expiration: true } },
      body,
      buttons({ type: 'COPY_CODE', text: 'Copy offer code' }),
    ],
  },
  { name: 'order_details', components: [body, buttons({ type: 'ORDER_DETAILS', text: 'Review and pay' })] },
]

const server = await forFile(startTestServer())
const account = await server.account()
const { phoneNumberId } = account
for (const id of ['1', '42', '1037543291543636'])
  server.simulator.media.set(id, { id, phoneNumberId, type: 'image/png', size: 1, sha256: '' })
for (const template of templates) await account.template({ language: 'en', ...template })

const ada = { variables: { '1': 'Ada' } }

function send(template: string, values: object) {
  return account.post('/api/v1/message/send', { to: '34600111222', template, language: 'en', ...values })
}

function preview(template: string, values: object) {
  return account.post('/api/v1/message/preview', { to: '34600111222', template, language: 'en', ...ada, ...values })
}

/** The rows of a table by template: the values of a send, and what is expected of it. */
function listRows<Expected>(table: Record<string, [values: object, expected: Expected][]>) {
  return Object.entries(table).flatMap(([template, rows]) =>
    rows.map(([values, expected]) => ({ template, values, expected })),
  )
}

const header = (parameter: object) => [{ type: 'header', parameters: [parameter] }]
const button = (sub_type: string, index: string, parameter: object) => [
  { type: 'button', sub_type, index, parameters: [parameter] },
]

const aloe = { header: { image: { mediaId: '1' } }, variables: { '1': 'EUR 9' }, buttons: [{ index: 1, url: 'aloe' }] }
const monstera = {
  header: { image: { link: 'https://example.com/m.png' } },
  variables: { '1': 'EUR 19' },
  buttons: [
    { index: 1, url: 'monstera' },
    { index: 0, payload: 'more' },
  ],
}
const sku1 = { header: { product: { catalogId: '77', productId: 'sku-1' } } }
const productCard = (index: number) => ({
  card_index: index,
  components: header({ type: 'product', product: { product_retailer_id: 'sku-1', catalog_id: '77' } }),
})

/** The components that WhatsApp receives in addition to the body, of each kind of the reference (sections 1.1 to 1.3). */
const sent: Record<string, [values: TemplateValues, components: object[]][]> = {
  text_header: [[{ header: { text: 'A-1' } }, header({ type: 'text', text: 'A-1' })]],
  image_header: [
    [
      { header: { image: { link: 'https://example.com/a.png?x=1' } } },
      header({ type: 'image', image: { link: 'https://example.com/a.png?x=1' } }),
    ],
    [
      { header: { image: { mediaId: '1037543291543636' } } },
      header({ type: 'image', image: { id: '1037543291543636' } }),
    ],
  ],
  video_header: [
    [
      { header: { video: { link: 'http://example.com/a.mp4' } } },
      header({ type: 'video', video: { link: 'http://example.com/a.mp4' } }),
    ],
  ],
  document_header: [
    [
      { header: { document: { link: 'https://example.com/a.pdf', filename: 'invoice.pdf' } } },
      header({ type: 'document', document: { link: 'https://example.com/a.pdf', filename: 'invoice.pdf' } }),
    ],
    [
      { header: { document: { link: 'https://example.com/2026/invoice%2077.pdf?sig=a%2Bb#page' } } },
      header({
        type: 'document',
        document: { link: 'https://example.com/2026/invoice%2077.pdf?sig=a%2Bb#page', filename: 'invoice 77.pdf' },
      }),
    ],
    [
      { header: { document: { link: 'https://example.com/download?id=77' } } },
      header({ type: 'document', document: { link: 'https://example.com/download?id=77' } }),
    ],
    [{ header: { document: { mediaId: '42' } } }, header({ type: 'document', document: { id: '42' } })],
  ],
  location_header: [
    [
      { header: { location: { latitude: 48.13, longitude: -11.57, name: 'Depot 7', address: 'Ringstr. 1' } } },
      header({
        type: 'location',
        location: { latitude: '48.13', longitude: '-11.57', name: 'Depot 7', address: 'Ringstr. 1' },
      }),
    ],
  ],
  product_header: [
    [
      { header: { product: { catalogId: '77', productId: 'sku-1' } } },
      header({ type: 'product', product: { product_retailer_id: 'sku-1', catalog_id: '77' } }),
    ],
  ],
  url_button: [[{ buttons: [{ index: 1, url: 'A-1?x=1' }] }, button('url', '1', { type: 'text', text: 'A-1?x=1' })]],
  quick_replies: [
    [{}, []],
    [
      {
        buttons: [
          { index: 1, payload: 'no-7' },
          { index: 0, payload: 'yes-7' },
        ],
      },
      [
        ...button('quick_reply', '1', { type: 'payload', payload: 'no-7' }),
        ...button('quick_reply', '0', { type: 'payload', payload: 'yes-7' }),
      ],
    ],
  ],
  copy_code: [
    [
      { buttons: [{ index: 0, couponCode: 'SPRING9' }] },
      button('copy_code', '0', { type: 'coupon_code', coupon_code: 'SPRING9' }),
    ],
  ],
  flow: [
    [{}, [{ type: 'button', sub_type: 'flow', index: '0' }]],
    [
      { buttons: [{ index: 0, flow: { token: 't-1', data: { k: ['v', { deep: 1 }] } } }] },
      button('flow', '0', {
        type: 'action',
        action: { flow_token: 't-1', flow_action_data: { k: ['v', { deep: 1 }] } },
      }),
    ],
  ],
  catalog: [
    [{}, [{ type: 'button', sub_type: 'catalog', index: '0' }]],
    [
      { buttons: [{ index: 0, products: { thumbnailProductId: 'sku-1' } }] },
      button('catalog', '0', { type: 'action', action: { thumbnail_product_retailer_id: 'sku-1' } }),
    ],
  ],
  multi_product: [
    [
      { buttons: [{ index: 0, products }] },
      button('mpm', '0', {
        type: 'action',
        action: {
          thumbnail_product_retailer_id: 'sku-1',
          sections: [
            { title: 'Top', product_items: [{ product_retailer_id: 'sku-1' }, { product_retailer_id: 'sku-2' }] },
          ],
        },
      }),
    ],
  ],
  carousel: [
    [
      { cards: [aloe, monstera] },
      [
        {
          type: 'carousel',
          cards: [
            {
              card_index: 0,
              components: [
                ...header({ type: 'image', image: { id: '1' } }),
                { type: 'body', parameters: [{ type: 'text', text: 'EUR 9' }] },
                ...button('url', '1', { type: 'text', text: 'aloe' }),
              ],
            },
            {
              card_index: 1,
              components: [
                ...header({ type: 'image', image: { link: 'https://example.com/m.png' } }),
                { type: 'body', parameters: [{ type: 'text', text: 'EUR 19' }] },
                ...button('url', '1', { type: 'text', text: 'monstera' }),
                ...button('quick_reply', '0', { type: 'payload', payload: 'more' }),
              ],
            },
          ],
        },
      ],
    ],
  ],
  product_carousel: [
    [{ cards: [sku1, sku1, sku1] }, [{ type: 'carousel', cards: [productCard(0), productCard(1), productCard(2)] }]],
  ],
  offer: [
    [
      { buttons: [{ index: 0, couponCode: 'SPRING9' }], limitedTimeOffer: { expiresAt: '2029-01-01T01:00:00+01:00' } },
      [
        {
          type: 'limited_time_offer',
          parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: 1_861_920_000_000 } }],
        },
        ...button('copy_code', '0', { type: 'coupon_code', coupon_code: 'SPRING9' }),
      ],
    ],
  ],
}

test.each(listRows(sent))('sends $template with $values as $expected', async ({ template, values, expected }) => {
  const response = await send(template, { ...ada, ...values })

  expect(response.text).toContain('"success":true')
  const upstream = server.simulator.requests.at(-1)?.body as { template: { components: object[] } }
  const components = [...expected, { type: 'body', parameters: [{ type: 'text', text: 'Ada' }] }]
  expect(upstream.template.components).toHaveLength(components.length)
  expect(upstream.template.components).toEqual(expect.arrayContaining(components))
})

test('sends a named header variable with its name', async () => {
  const response = await send('named_header', { variables: { name: 'Ada' }, header: { text: 'A-1' } })

  expect(response.statusCode).toBe(200)
  expect(server.simulator.requests.at(-1)?.body).toMatchObject({
    template: {
      components: [
        { type: 'header', parameters: [{ type: 'text', parameter_name: 'order', text: 'A-1' }] },
        { type: 'body', parameters: [{ type: 'text', parameter_name: 'name', text: 'Ada' }] },
      ],
    },
  })
})

test.each(['one_time_code', 'otp_button'])('fills the body and the button of %s with the code', async (template) => {
  const response = await send(template, { code: '481516' })

  expect(response.statusCode).toBe(200)
  const parameters = [{ type: 'text', text: '481516' }]
  expect(server.simulator.requests.at(-1)?.body).toMatchObject({
    template: {
      components: [
        { type: 'body', parameters },
        { type: 'button', sub_type: 'url', index: '0', parameters },
      ],
    },
  })
})

const link = 'https://example.com/a.png'
const unreachable =
  'header.image.link (image header): must be an address that WhatsApp can reach from the internet, such as https://example.com/file.pdf.'
const noSuchHeader = 'header: the template has no header that takes a value; remove this field.'
const oneOf = 'header: must have exactly one of text, image, video, document, location, product.'
const badLink = (url: string, message: string): [object, string] => [{ header: { image: { link: url } } }, message]
const sku = (count: number) => Array.from({ length: count }, (_, at) => `sku-${at}`)

/** The complete error message of each mistake and limit. */
const mistakes: Record<string, [values: object, message: string][]> = {
  text_header: [
    [{}, `header (text header 'Order {{1}}'): is missing; send {"text": "…"}.`],
    [{ header: { text: ' ' } }, `header.text (text header 'Order {{1}}'): must not be empty.`],
    [{ header: { text: 'a\nb' } }, `header.text (text header 'Order {{1}}'): must not contain a line break.`],
    [
      { header: { text: 'x'.repeat(55) } },
      `header.text (text header 'Order {{1}}'): makes the header 61 characters long; WhatsApp allows at most 60.`,
    ],
    [{ header: { text: 'x', image: { link } } }, oneOf],
    [{ header: {} }, oneOf],
  ],
  document_header: [
    [{}, 'header (document header): is missing; send {"document": {"link": "https://…", "filename": "…"}}.'],
    [
      { header: { image: { link } } },
      'header (document header): must be {"document": {"link": "https://…", "filename": "…"}}.',
    ],
    [{ header: { document: { filename: 'a.pdf' } } }, 'header.document: must have exactly one of link, mediaId.'],
  ],
  image_header: [
    ...[
      'http://localhost:8000/cover.jpg',
      'https://cdn.local/cover.jpg',
      'https://files/cover.jpg',
      'https://files.internal./cover.jpg',
      'https://files.corp/cover.jpg',
      'https://nas.lan/cover.jpg',
      'https://shop.test/cover.jpg',
      'https://hidden.onion/cover.jpg',
      'https://10.1.2.3/cover.jpg',
      'https://0x7f.1/cover.jpg',
      'https://[::1]/cover.jpg',
      'https://[::ffff:192.168.1.1]/cover.jpg',
      'https://[half',
    ].map((url) => badLink(url, unreachable)),
    badLink(
      'https://ada:secret@example.com/cover.jpg',
      'header.image.link (image header): must not contain a user name or password, because WhatsApp downloads the file without signing in.',
    ),
    [{ header: { image: { link, mediaId: '1' } } }, 'header.image: must have exactly one of link, mediaId.'],
    ...[
      'ftp://example.com/a',
      '/a.png',
      'example.com/a.png',
      'https://',
      'https:///a.png',
      'https://?a.png',
      'https://\\example.com/a.png',
      'file:///etc/passwd',
      'javascript:1',
    ].map((url) =>
      badLink(url, 'header.image.link: must be a public http or https address, such as https://…/file.pdf.'),
    ),
    badLink(
      'https://scontent.whatsapp.net/v/t61.29466-34/1.png?oe=1',
      "header.image.link (image header): must not be the sample's address in the list of templates, which WhatsApp does not download; use one of your own.",
    ),
    badLink(`https://example.com/${'x'.repeat(4096)}`, 'header.image.link: must have at most 4096 characters.'),
    [
      { header: { image: { mediaId: link } } },
      'header.image.mediaId: must be the ID of an uploaded file: med_… of Waybill, or the digits of WhatsApp.',
    ],
    [
      { header: { imge: { link } } },
      '"imge": no such field in header; known are text, image, video, document, location, product. header: must have exactly one of text, image, video, document, location, product.',
    ],
    [
      { header: { image: { link } }, buttons: [{ index: 0, url: 'x' }] },
      'buttons[0].index: the template has no buttons; remove this field.',
    ],
  ],
  url_button: [
    [{ header: { text: 'x' }, buttons: [{ index: 1, url: 'x' }] }, noSuchHeader],
    [{}, `buttons (button index 1, 'Track order'): is missing; send {"index": 1, "url": "…"}.`],
    [
      { buttons: [{ index: 0, url: 'A-1' }] },
      `buttons (button index 1, 'Track order'): is missing; send {"index": 1, "url": "…"}. buttons[0] (button index 0, 'Call us'): a button of type PHONE_NUMBER takes no value; remove this entry.`,
    ],
    [
      { buttons: [{ index: 1, payload: 'x' }] },
      `buttons[0] (button index 1, 'Track order'): a button of type URL takes {"index": 1, "url": "…"}.`,
    ],
    [
      {
        buttons: [
          { index: 1, url: 'x' },
          { index: 2, url: 'x' },
        ],
      },
      'buttons[1].index: the template has 2 buttons, 0 to 1.',
    ],
    [{ buttons: [{ index: 1, url: '' }] }, `buttons[0].url (button index 1, 'Track order'): must not be empty.`],
  ],
  plain_header: [[{ header: { text: 'x' } }, noSuchHeader]],
  location_header: [
    [{ header: { location: { latitude: 91, longitude: 0 } } }, 'header.location.latitude: must be at most 90.'],
    [{ header: { location: { latitude: 1 } } }, 'header.location.longitude: is required.'],
  ],
  quick_replies: [
    [
      {
        buttons: [
          { index: 0, payload: 'a' },
          { index: 0, payload: 'b' },
        ],
      },
      'buttons[1].index: there is already a value for button 0.',
    ],
    [{ buttons: [{ index: 0 }] }, 'buttons[0]: must have exactly one of url, payload, couponCode, flow, products.'],
    [{ buttons: [{ index: '0', payload: 'a' }] }, 'buttons[0].index: must be a whole number.'],
    [{ buttons: [{ index: 0, payload: 'x'.repeat(257) }] }, 'buttons[0].payload: must have at most 256 characters.'],
    [
      { code: '481516' },
      'code: the template has no one-time code, because its category is not AUTHENTICATION; choose one of this category, or send it with message.send and its variables and buttons.',
    ],
    [{ cards: [aloe, monstera] }, 'cards: the template has no cards; remove this field.'],
    [
      { limitedTimeOffer: { expiresAt: '2029-01-01T00:00:00Z' } },
      'limitedTimeOffer: the template has no offer with an expiration time; remove this field.',
    ],
    [{ components: [{ type: 'body' }] }, 'variables: cannot be combined with components; remove one of them.'],
    [{ variables: undefined, components: { type: 'body' } }, 'components: must be an array.'],
    [{ variables: undefined, components: [{ parameters: [] }] }, 'components[0].type: is required.'],
    [
      { variables: undefined, components: Array.from({ length: 21 }, () => ({ type: 'body' })) },
      'components: must have at most 20 components.',
    ],
  ],
  long_url_button: [
    [
      { buttons: [{ index: 0, url: 'x'.repeat(81) }] },
      `buttons[0].url (button index 0, 'Track order'): makes the URL 2001 characters long; WhatsApp allows at most 2000.`,
    ],
  ],
  copy_code: [
    [{}, `buttons (button index 0, 'Copy offer code'): is missing; send {"index": 0, "couponCode": "…"}.`],
    [
      { buttons: [{ index: 0, couponCode: 'SPRING-9' }] },
      `buttons[0].couponCode (button index 0, 'Copy offer code'): must contain only letters A to Z and digits.`,
    ],
    [
      { buttons: [{ index: 0, couponCode: 'X'.repeat(21) }] },
      `buttons[0].couponCode (button index 0, 'Copy offer code'): must have at most 20 characters.`,
    ],
  ],
  flow: [
    [
      { buttons: [{ index: 0, flow: { data: { deep: JSON.parse('['.repeat(500) + ']'.repeat(500)) } } }] },
      'buttons[0].flow.data: must not nest more than 16 levels.',
    ],
  ],
  multi_product: [
    [
      {},
      `buttons (button index 0, 'View items'): is missing; send {"index": 0, "products": {"thumbnailProductId": "…", "sections": [{"title": "…", "productIds": ["…"]}]}}.`,
    ],
    [
      withSections({ title: 'A', productIds: sku(16) }, { title: 'B', productIds: sku(15) }),
      `buttons[0].products (button index 0, 'View items'): contains 31 products; WhatsApp allows at most 30.`,
    ],
    [
      withSections(...Array.from({ length: 11 }, () => ({ title: 'A', productIds: ['sku-1'] }))),
      'buttons[0].products.sections: must have at most 10 sections.',
    ],
    [
      withSections({ title: 'x'.repeat(25), productIds: ['sku-1'] }),
      'buttons[0].products.sections[0].title: must have at most 24 characters.',
    ],
    [
      { buttons: [{ index: 0, products: { sections: products.sections } }] },
      `buttons[0].products (button index 0, 'View items'): thumbnailProductId is missing.`,
    ],
  ],
  catalog: [
    [
      { buttons: [{ index: 0, products }] },
      `buttons[0].products (button index 0, 'View catalog'): a catalogue button shows the whole catalogue; remove sections.`,
    ],
  ],
  one_time_code: [
    [{ variables: undefined }, 'code: is missing; the template takes a one-time code of at most 15 characters.'],
    [
      { variables: { '1': '481516' } },
      'variables: the template takes only a one-time code, in the field code; remove this field. code: is missing; the template takes a one-time code of at most 15 characters.',
    ],
    [{ variables: undefined, code: '1'.repeat(16) }, 'code: must have at most 15 characters.'],
    [{ variables: undefined, code: '12😀4' }, 'code: must not contain an emoji.'],
    [{ variables: undefined, code: 'http://a.bc' }, 'code: must not contain an address.'],
  ],
  product_header: [
    [
      { variables: { '1': 'x'.repeat(154) }, header: { product: { catalogId: '77', productId: 'sku-1' } } },
      'variables: make the body 161 characters long; WhatsApp allows at most 160.',
    ],
  ],
  carousel: [
    [{}, 'cards: is missing; the template has 2 cards.'],
    [
      { cards: Array.from({ length: 10 }, () => aloe) },
      'cards: must have 2 cards, as many as the template; it has 10.',
    ],
    [
      { cards: [aloe, { buttons: [{ index: 1, payload: 'x' }] }] },
      `cards[1].variables (card 1): "1" is missing; it fills {{1}}. cards[1].header (card 1, image header): is missing; send {"image": {"link": "https://…"}}. cards[1].buttons[0] (card 1, button index 1, 'Buy'): a button of type URL takes {"index": 1, "url": "…"}.`,
    ],
    [
      { cards: [aloe, { ...monstera, variables: { '1': 'x'.repeat(155) } }] },
      'cards[1].variables (card 1): make the body 161 characters long; WhatsApp allows at most 160.',
    ],
  ],
  product_carousel: [
    [{ cards: Array.from({ length: 11 }, () => sku1) }, 'cards: must have at most 10 cards.'],
    [{ cards: [sku1] }, 'cards: must have 2 to 10 cards.'],
  ],
  offer: [
    [
      { buttons: [{ index: 0, couponCode: 'X' }] },
      `limitedTimeOffer (offer 'Expiring offer!'): is missing; send {"expiresAt": "2026-12-24T18:00:00Z"}.`,
    ],
    [
      { buttons: [{ index: 0, couponCode: 'X' }], limitedTimeOffer: { expiresAt: '2029-01-01T00:00:00' } },
      'limitedTimeOffer.expiresAt: must be an ISO 8601 time with its zone, such as 2026-11-20T09:30:00Z.',
    ],
    [
      {
        variables: { '1': 'x'.repeat(594) },
        buttons: [{ index: 0, couponCode: 'X' }],
        limitedTimeOffer: { expiresAt: '2029-01-01T00:00:00Z' },
      },
      'variables: make the body 601 characters long; WhatsApp allows at most 600.',
    ],
  ],
  order_details: [
    [
      {},
      'template: order_details (en) cannot be sent: its button of type ORDER_DETAILS requires a parameter that Waybill does not know.',
    ],
  ],
}

test.each(listRows(mistakes))('rejects $template without calling WhatsApp: $expected', async (mistake) => {
  const before = server.simulator.requests.length

  const response = await send(mistake.template, { ...ada, ...mistake.values })

  expect(response.json()).toMatchObject({ error: { code: 'VALIDATION_ERROR', message: mistake.expected } })
  expect(response.statusCode).toBe(400)
  expect(server.simulator.requests).toHaveLength(before)
})

test('rejects components that nest too deep for JSON.stringify', async () => {
  const request = {
    to: '34600111222',
    template: 'quick_replies',
    language: 'en',
    components: [{ type: 'body', x: 'deep' }],
  }
  const deep = '['.repeat(5000) + ']'.repeat(5000)

  const response = await account.postText('/api/v1/message/send', JSON.stringify(request).replace('"deep"', deep))

  expect(response.statusCode).toBe(400)
  expect(response.json().error.message).toBe('components: must not nest more than 16 levels.')
})

test('reports all problems in the order of the request', async () => {
  const response = await send('url_button', { header: { text: 'x' }, buttons: [{ index: 5, url: 'x' }] })

  expect(response.json().error.message).toBe(
    `variables: "1" is missing; it fills {{1}}. header: the template has no header that takes a value; remove this field. buttons (button index 1, 'Track order'): is missing; send {"index": 1, "url": "…"}. buttons[0].index: the template has 2 buttons, 0 to 1.`,
  )
})

test('treats an empty list as absent, as some generated clients send it', async () => {
  const response = await account.post('/api/v1/message/send', {
    ...exampleSend,
    buttons: [],
    cards: [],
    components: [],
  })

  expect(response.json()).toMatchObject({ success: true, data: { status: 'sent' } })
})

test('accepts values at their limits, as WhatsApp does', async () => {
  const header = await send('text_header', { ...ada, header: { text: 'x'.repeat(54) } })
  const url = await send('long_url_button', { ...ada, buttons: [{ index: 0, url: 'x'.repeat(80) }] })
  const coupon = await send('copy_code', { ...ada, buttons: [{ index: 0, couponCode: 'X'.repeat(20) }] })
  const code = await send('one_time_code', { code: 'x'.repeat(15) })

  expect([header, url, coupon, code].map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
})

test('passes Cloud API components on unchanged, even for a template that Waybill cannot fill', async () => {
  const components = [
    { type: 'body', parameters: [{ type: 'text', text: 'Ada' }] },
    {
      type: 'button',
      sub_type: 'order_details',
      index: 0,
      parameters: [
        { type: 'action', action: { order_details: { currency: 'INR', total: { value: 1, offset: 100 } } } },
      ],
    },
  ]
  const response = await send('order_details', { components })

  expect(response.text).toContain('"success":true')
  expect(server.simulator.requests.at(-1)?.body).toMatchObject({ template: { components } })
  const { json } = await preview('order_details', { variables: undefined, components })
  expect(json().data).toMatchObject({ body: 'Hello Ada.' })
})

test('previews the cards of a carousel', async () => {
  const { json } = await preview('carousel', { cards: [aloe, monstera] })

  expect(json().data['cards']).toMatchObject([
    { headerMedia: { type: 'image', mediaId: '1' }, body: 'Only EUR 9.' },
    {
      headerMedia: { link: 'https://example.com/m.png' },
      body: 'Only EUR 19.',
      buttonDetails: [
        { text: 'Yes', payload: 'more' },
        { text: 'Buy', url: 'https://example.com/p/monstera' },
      ],
    },
  ])
})

test('previews the header, the buttons and what they open', async () => {
  const order = await preview('text_header', { header: { text: 'A-1' } })
  expect(order.json().data).toMatchObject({ header: 'Order A-1', body: 'Hello Ada.' })
  const invoice = await preview('document_header', { header: { document: { mediaId: '42', filename: 'a.pdf' } } })
  expect(invoice.json().data['headerMedia']).toEqual({ type: 'document', mediaId: '42', filename: 'a.pdf' })
  const tracking = await preview('url_button', { buttons: [{ index: 1, url: 'A-1' }] })
  expect(tracking.json().data).toMatchObject({
    buttons: ['Call us', 'Track order'],
    buttonDetails: [
      { index: 0, type: 'PHONE_NUMBER', text: 'Call us' },
      { index: 1, type: 'URL', text: 'Track order', url: 'https://example.com/track/A-1' },
    ],
  })
  const code = await preview('one_time_code', { variables: undefined, code: '481516' })
  expect(code.json().data).toMatchObject({ body: '*481516* is your verification code.', buttons: ['Copy code'] })
})

test('writes a one-time code to no table and no log, whatever the outcome of the send', async () => {
  const code = '90817263544'
  for (const to of ['34600111222', '15550131026', '15559000006', '15550000100'])
    await account.post(
      '/api/v1/message/send',
      { to, template: 'one_time_code', language: 'en', code },
      { 'idempotency-key': `code-${to}` },
    )
  await send('one_time_code', { code, buttons: [{ index: 0, url: code }] })
  server.simulator.intercept(() => ({
    kind: 'json',
    status: 400,
    body: { error: { message: `(#100) Invalid parameter ${code}`, code: 100, error_data: { details: `not ${code}` } } },
  }))
  const quoted = await send('one_time_code', { code })
  const button = { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: code }] }
  const raw = await send('one_time_code', { components: [{ ...button }] })
  server.simulator.intercept(undefined)

  expect(quoted.json().error.message).toContain('not ***')
  expect(raw.json().error.message).toContain('not ***')
  expect(server.log.join('')).not.toContain(code)
  expect(await findTablesWith(server.deps.db, code)).toEqual([])
  expect(await findTablesWith(server.deps.db, 'code-15550131026')).toEqual(['idempotency_keys'])
})
