import { describe, expect, test } from 'vitest'
import { TemplateDefinition } from '../../../contracts/templates/definition.ts'
import { describeTemplateProblem, findTemplateProblems } from '../../../contracts/templates/rules.ts'

const base = {
  name: 'order_shipped',
  language: 'en',
  category: 'UTILITY',
  body: { text: 'Hello {{1}}, your order {{2}} is on its way.', examples: { '1': 'Ada', '2': 'WB-1042' } },
}
const code = { name: 'login_code', language: 'en', category: 'AUTHENTICATION' }
const copyCode = { otpType: 'COPY_CODE' }
const app = { packageName: 'com.example.shop', signatureHash: 'K8a/AINcGX7' }
const url = { type: 'URL', text: 'Track', url: 'https://example.com/t/{{1}}', example: 'WB-1042' }
const reply = { type: 'QUICK_REPLY', text: 'Yes' }
const phone = { type: 'PHONE_NUMBER', text: 'Call us', phoneNumber: '+34600111222' }
const coupon = { type: 'COPY_CODE', example: 'SPRING9' }
const image = { format: 'IMAGE', sample: { link: 'https://example.com/a.png' } }
const card = { header: image, body: { text: 'Aloe vera.' }, buttons: [reply, url] }
const body = (text: string, examples: Record<string, string> = {}) => ({ ...base, body: { text, examples } })
const header = (part: object) => ({ ...base, header: part })
const headline = (text: string, more = {}) => header({ format: 'TEXT', text, ...more })
const buttons = (...all: object[]) => ({ ...base, buttons: all })
const authentication = (how: object) => ({ ...code, authentication: how })
const carousel = (...cards: object[]) => ({ ...base, category: 'MARKETING', cards })
const product = { format: 'PRODUCT' }
const withProduct = { ...base, header: product, buttons: [{ type: 'SPM' }] }
const productCard = { header: product, buttons: [{ type: 'SPM' }] }
const offer = (more: object) => ({
  ...base,
  category: 'MARKETING',
  header: image,
  limitedTimeOffer: { text: 'Ends soon', expires: true },
  buttons: [coupon, url],
  ...more,
})

function times(count: number, part: object): object[] {
  return Array.from({ length: count }, () => part)
}

function problems(template: object): string[] {
  return findTemplateProblems(TemplateDefinition.parse(template)).map(describeTemplateProblem)
}

describe('accepts', () => {
  test.each<[string, object]>([
    ['a body with numbered variables', base],
    ['a body of several lines', body('Hello,\r\n\tyour order is on its way.')],
    ['a body with named variables', body('Dear {{first_name}}, welcome.', { first_name: 'Ada' })],
    ['a body of 1024 characters, counted as people count', body('😀'.repeat(1024))],
    ['a header with a variable', headline('Order {{1}}', { example: 'A-1' })],
    ['a header with a document', header({ format: 'DOCUMENT', sample: { handle: '4::aW' } })],
    ['a header with a location', header({ format: 'LOCATION' })],
    ['a trademark and formatting in the footer', { ...base, footer: '*Waybill™*' }],
    ['a product', { ...base, header: product, buttons: [{ type: 'SPM' }] }],
    ['cards with products', carousel(productCard, productCard)],
    ['quick replies before the others', buttons(reply, reply, url, phone)],
    ['quick replies after the others', buttons(url, phone, reply)],
    ['a flow', buttons({ type: 'FLOW', text: 'Book', flowId: '1', flowAction: 'navigate', navigateScreen: 'A' })],
    ['a request for the number', buttons({ type: 'REQUEST_CONTACT_INFO' })],
    ['a call on WhatsApp', buttons({ type: 'VOICE_CALL', text: 'Call' })],
    ['a catalogue', { ...base, category: 'MARKETING', buttons: [{ type: 'CATALOG' }] }],
    ['a carousel', carousel(card, card)],
    ['a limited-time offer', offer({})],
    ['a limited-time offer without a code', offer({ buttons: [url] })],
    ['a code to copy', authentication({ ...copyCode, expirationMinutes: 10, addSecurityRecommendation: true })],
    ['a one-tap code', authentication({ otpType: 'ONE_TAP', autofillText: 'Autofill', apps: [app] })],
    ['a zero-tap code', authentication({ otpType: 'ZERO_TAP', zeroTapTermsAccepted: true, apps: [app] })],
    ['a lifetime of 12 hours', { ...base, ttlSeconds: 43_200 }],
  ])('%s', (_, template) => {
    expect(problems(template)).toEqual([])
  })
})

const left = 'must be left out'

describe('rejects', () => {
  test.each<[string, object, string]>([
    ['a name with capitals', { ...base, name: 'OrderShipped' }, 'name: must have lower-case letters'],
    [
      'a name of 513 characters',
      { ...base, name: 'a'.repeat(513) },
      'name: must have at most 512 characters; it has 513.',
    ],
    ['an unknown language', { ...base, language: 'xx' }, 'language: must be a language of WhatsApp'],
    ['no body', { ...base, body: undefined }, 'body: is required in the category UTILITY.'],
    ['a blank body', body('  '), 'body.text: must not be blank.'],
    ['a body of 1025 characters', body('a'.repeat(1025)), 'body.text: must have at most 1024 characters; it has 1025.'],
    ['a variable at the start', body('{{1}}, hello.', { '1': 'Ada' }), 'body.text: must not start with a variable'],
    ['a variable at the end', body('Hello {{1}}', { '1': 'Ada' }), 'body.text: must not end with a variable'],
    [
      'adjacent variables',
      body('Hi {{1}} {{2}}.', { '1': 'A', '2': 'B' }),
      'body.text: must not have two variables next to',
    ],
    ['a gap in the numbers', body('Hi {{1}}, {{3}}.', { '1': 'A', '3': 'B' }), '{{2}} is missing.'],
    ['numbers from zero', body('Hi {{0}}!', { '0': 'A' }), '{{1}} is missing.'],
    ['numbers and names', body('Hi {{1}}, {{name}}.', { '1': 'A', name: 'B' }), 'not both.'],
    ['a variable with a space', body('Hi {{first name}}, ok.'), 'body.text: must write each variable as {{1}}'],
    ['a variable in single braces', body('Hi {1}, ok.'), 'body.text: must write each variable as {{1}}'],
    ['an unclosed variable', body('Hi {{1, ok.'), 'body.text: must write each variable as {{1}}'],
    ['a variable with capitals', body('Hi {{Name}}!', { Name: 'A' }), '{{name}}, not {{Name}}.'],
    ['three line breaks', body('Hi.\n\n\nBye.'), 'body.text: must not have more than two line breaks in a row.'],
    ['a missing example', body('Hi {{1}}!'), 'body.examples.1: is required: WhatsApp reviews an example'],
    ['a missing example of {{constructor}}', body('Hi {{constructor}}!'), 'body.examples.constructor: is required'],
    ['a surplus example', body('Hi.', { '1': 'A' }), 'body.examples.1: must be left out: the text has no {{1}}.'],
    ['a line break in an example', body('Hi {{1}}!', { '1': 'A\nB' }), 'body.examples.1: must not have a line break'],
    ['a text header without text', header({ format: 'TEXT' }), 'header.text: is required'],
    ['a header of 61 characters', headline('a'.repeat(61)), 'header.text: must have at most 60'],
    ['a header of two lines', headline('a\nb'), 'header.text: must be one line'],
    ['bold text in a header', headline('*Order*'), 'header.text: must not have emoji'],
    ['an emoji in a header', headline('Order 🎉'), 'header.text: must not have emoji'],
    [
      'two variables in a header',
      headline('A {{1}} {{2}}', { example: 'x' }),
      'header.text: must have at most one variable.',
    ],
    [
      'variable {{2}} in a header',
      headline('A {{2}}', { example: 'x' }),
      'header.text: must number its variable {{1}}.',
    ],
    ['a header variable without example', headline('A {{1}}'), 'header.example: is required'],
    ['a header example without variable', headline('A', { example: 'x' }), `header.example: ${left}`],
    ['a file in a text header', headline('A', { sample: { handle: '4' } }), `header.sample: ${left}`],
    [
      'an image without a sample',
      header({ format: 'IMAGE' }),
      'header.sample: must have exactly one of link and handle',
    ],
    [
      'an image with two samples',
      header({ format: 'IMAGE', sample: { link: 'https://a.example/b', handle: '4' } }),
      'header.sample: must have exactly one',
    ],
    ['text in an image header', header({ ...image, text: 'A' }), `header.text: ${left}`],
    ['a variable in an image header', header({ ...image, example: 'A' }), `header.example: ${left}`],
    ['a sample of a location', header({ format: 'LOCATION', sample: { handle: '4' } }), `header.sample: ${left}`],
    [
      'a sample of a product',
      { ...withProduct, header: { ...product, sample: { handle: '4' } } },
      `header.sample: ${left}`,
    ],
    ['a product without its button', header(product), 'buttons: must be one SPM button under a product.'],
    [
      'a product with another button',
      { ...withProduct, buttons: [{ type: 'SPM' }, reply] },
      'buttons: must be one SPM button under a product.',
    ],
    [
      'the button of a product without the product',
      buttons({ type: 'SPM' }),
      'buttons: must have SPM under a header of format PRODUCT only.',
    ],
    [
      'a body of 161 characters with a product',
      { ...withProduct, body: { text: 'a'.repeat(161) } },
      'body.text: must have at most 160 characters; it has 161.',
    ],
    [
      'a text on a product card',
      carousel({ ...productCard, body: { text: 'A' } }, productCard),
      'cards[0].body: must be left out: a product card has no text.',
    ],
    [
      'a product card without its button',
      carousel({ header: product, buttons: [reply] }, productCard),
      'cards[0].buttons: must be one SPM button under a product.',
    ],
    ['a footer of 61 characters', { ...base, footer: 'a'.repeat(61) }, 'footer: must have at most 60 characters'],
    ['a variable in the footer', { ...base, footer: 'Shop {{1}}' }, 'footer: must not have variables.'],
    ['a footer of two lines', { ...base, footer: 'a\nb' }, 'footer: must be one line'],
    ['an emoji in the footer', { ...base, footer: 'Our shop 🛍️' }, 'footer: must not have emoji.'],
    ['a flag in the footer', { ...base, footer: 'Made in 🇪🇸' }, 'footer: must not have emoji.'],
    ['a keycap in the footer', { ...base, footer: 'Press 1️⃣' }, 'footer: must not have emoji.'],
    ['an empty list of buttons', buttons(), 'buttons: must not be empty'],
    ['eleven buttons', { ...base, buttons: times(11, reply) }, 'buttons: must have at most 10 buttons; there are 11.'],
    ['three URL buttons', buttons(url, url, url), 'buttons: must have at most 2 of type URL; there are 3.'],
    ['two phone buttons', buttons(phone, phone), 'buttons: must have at most 1 of type PHONE_NUMBER'],
    ['two coupons', buttons(coupon, coupon), 'buttons: must have at most 1 of type COPY_CODE'],
    [
      'two calls',
      buttons({ type: 'VOICE_CALL', text: 'A' }, { type: 'VOICE_CALL', text: 'B' }),
      'at most 1 of type VOICE_CALL',
    ],
    ['two flows', { ...base, buttons: times(2, { type: 'FLOW', text: 'A', flowId: '1' }) }, 'at most 1 of type FLOW'],
    [
      'replies around another button',
      buttons(reply, url, reply),
      'buttons: must have all QUICK_REPLY buttons together',
    ],
    ['a reply between other buttons', buttons(url, reply, url), 'buttons: must have all QUICK_REPLY buttons together'],
    [
      'a catalogue with another button',
      buttons({ type: 'CATALOG' }, reply),
      'buttons: must have no other button beside CATALOG.',
    ],
    ['products with another button', buttons({ type: 'MPM' }, reply), 'buttons: must have no other button beside MPM.'],
    ['a label of 26 characters', buttons({ ...reply, text: 'a'.repeat(26) }), 'buttons[0].text: must have at most 25'],
    ['a variable in a label', buttons({ ...reply, text: 'Hi {{1}}' }), 'buttons[0].text: must not have variables.'],
    ...['🚚 Track it', 'Track ☎', 'Hola 🇪🇸', 'Press 1️⃣', '*Track*', '~Track~', '`Track`', 'A _b_'].map(
      (text): [string, object, string] => [
        `the label ${text}`,
        buttons({ ...reply, text }),
        'buttons[0].text: must not have emoji or formatting',
      ],
    ),
    ['a label of two lines', buttons({ ...reply, text: 'a\nb' }), 'buttons[0].text: must be one line'],
    ['no label', buttons({ type: 'QUICK_REPLY' }), 'buttons[0].text: is required in a button of type QUICK_REPLY.'],
    ['a fixed label', buttons({ ...coupon, text: 'Copy' }), `buttons[0].text: ${left}`],
    ['an address of a reply', buttons({ ...reply, url: 'https://a.example' }), `buttons[0].url: ${left}`],
    ['no address', buttons({ type: 'URL', text: 'Open' }), 'buttons[0].url: is required'],
    [
      'an incomplete address',
      buttons({ type: 'URL', text: 'Open', url: 'example.com' }),
      'buttons[0].url: must be a complete address',
    ],
    [
      'an address of 2001 characters',
      buttons({ type: 'URL', text: 'Open', url: `https://a.example/${'a'.repeat(1983)}` }),
      'buttons[0].url: must have at most 2000',
    ],
    [
      'a variable inside the address',
      buttons({ ...url, url: 'https://a.example/{{1}}/b' }),
      'buttons[0].url: must have its variable at the very end',
    ],
    ['a variable as the host', buttons({ ...url, url: 'https://{{1}}' }), 'buttons[0].url: must be a complete address'],
    [
      'a named variable in the address',
      buttons({ ...url, url: 'https://a.example/{{id}}' }),
      'buttons[0].url: must number its variable {{1}}.',
    ],
    ['an address without example', buttons({ ...url, example: undefined }), 'buttons[0].example: is required'],
    ['an example of a fixed address', buttons({ ...url, url: 'https://a.example' }), `buttons[0].example: ${left}`],
    [
      'a link to WhatsApp',
      buttons({ type: 'URL', text: 'Chat', url: 'https://wa.me/34600111222' }),
      'buttons[0].url: must not lead to WhatsApp',
    ],
    [
      'a phone number with letters',
      buttons({ ...phone, phoneNumber: '600-FLOWERS' }),
      'buttons[0].phoneNumber: must be the country code',
    ],
    ['a coupon with a hyphen', buttons({ ...coupon, example: 'A-1' }), 'buttons[0].example: must have letters'],
    [
      'a coupon of 21 characters',
      buttons({ ...coupon, example: 'A'.repeat(21) }),
      'buttons[0].example: must have at most 20',
    ],
    ['a flow without ID', buttons({ type: 'FLOW', text: 'Book' }), 'buttons[0].flowId: is required'],
    [
      'a screen of a data exchange',
      buttons({ type: 'FLOW', text: 'Book', flowId: '1', flowAction: 'data_exchange', navigateScreen: 'A' }),
      `buttons[0].navigateScreen: ${left}`,
    ],
    ['one card', carousel(card), 'cards: must have 2 to 10 cards; there are 1.'],
    ['eleven cards', carousel(...times(11, card)), 'cards: must have 2 to 10 cards; there are 11.'],
    ['a footer with cards', { ...carousel(card, card), footer: 'A' }, `footer: ${left}`],
    ['a header with cards', { ...carousel(card, card), header: image }, `header: ${left}`],
    ['buttons beside cards', { ...carousel(card, card), buttons: [reply] }, `buttons: ${left}`],
    [
      'cards of two kinds',
      carousel(card, { ...card, header: { ...image, format: 'VIDEO' } }),
      'cards[1].header.format: must be IMAGE, as on the first card.',
    ],
    [
      'a card with a document',
      carousel({ ...card, header: { ...image, format: 'DOCUMENT' } }, card),
      'cards[0].header.format: must be IMAGE, VIDEO or PRODUCT',
    ],
    [
      'one card without a body',
      carousel(card, { ...card, body: undefined }),
      'cards[1].body: must be on all cards or on none.',
    ],
    [
      'a card body of 161 characters',
      carousel({ ...card, body: { text: 'a'.repeat(161) } }, card),
      'cards[0].body.text: must have at most 160',
    ],
    ['a card without buttons', carousel({ ...card, buttons: [] }, card), 'cards[0].buttons: must have 1 or 2 buttons.'],
    [
      'a card with three buttons',
      carousel({ ...card, buttons: [reply, url, phone] }, card),
      'cards[0].buttons: must have 1 or 2 buttons.',
    ],
    [
      'other buttons on a card',
      carousel(card, { ...card, buttons: [url, reply] }),
      'cards[1].buttons: must have the same kinds',
    ],
    [
      'a coupon on a card',
      carousel({ ...card, buttons: [coupon] }, { ...card, buttons: [coupon] }),
      'cards[0].buttons[0].type: must be QUICK_REPLY, URL, PHONE_NUMBER on a card.',
    ],
    ['a utility offer', offer({ category: 'UTILITY' }), 'limitedTimeOffer: requires the category MARKETING.'],
    ['an offer with a footer', offer({ footer: 'A' }), `footer: ${left}`],
    [
      'an offer with a text header',
      offer({ header: { format: 'TEXT', text: 'A' } }),
      'header.format: must be IMAGE or VIDEO',
    ],
    [
      'an offer text of 17 characters',
      offer({ limitedTimeOffer: { text: 'a'.repeat(17) } }),
      'limitedTimeOffer.text: must have at most 16',
    ],
    ['an offer body of 601 characters', offer({ body: { text: 'a'.repeat(601) } }), 'body.text: must have at most 600'],
    [
      'an offer whose code comes second',
      offer({ buttons: [url, coupon] }),
      'buttons: must be one URL button, or COPY_CODE followed by URL',
    ],
    ['a code template without a code', code, 'authentication: is required in the category AUTHENTICATION'],
    ['a code template with a body', { ...base, ...code, authentication: copyCode }, `body: ${left}`],
    ['a code in a utility template', { ...base, authentication: copyCode }, `authentication: ${left}`],
    [
      'a code that lasts 91 minutes',
      authentication({ ...copyCode, expirationMinutes: 91 }),
      'authentication.expirationMinutes: must be 1 to 90.',
    ],
    [
      'a code label of 26 characters',
      authentication({ ...copyCode, text: 'a'.repeat(26) }),
      'authentication.text: must have at most 25',
    ],
    [
      'an autofill label of a code to copy',
      authentication({ ...copyCode, autofillText: 'A' }),
      `authentication.autofillText: ${left}`,
    ],
    ['apps of a code to copy', authentication({ ...copyCode, apps: [app] }), `authentication.apps: ${left}`],
    [
      'a one-tap code without an app',
      authentication({ otpType: 'ONE_TAP' }),
      'authentication.apps: must have 1 to 5 apps',
    ],
    [
      'a one-tap code with six apps',
      authentication({ otpType: 'ONE_TAP', apps: times(6, app) }),
      'authentication.apps: must have 1 to 5 apps',
    ],
    [
      'a zero-tap code without terms',
      authentication({ otpType: 'ZERO_TAP', apps: [app] }),
      'authentication.zeroTapTermsAccepted: must be true',
    ],
    [
      'a package of one segment',
      authentication({ otpType: 'ONE_TAP', apps: [{ ...app, packageName: 'shop' }] }),
      'authentication.apps[0].packageName: must be an Android package',
    ],
    [
      'a hash of 10 characters',
      authentication({ otpType: 'ONE_TAP', apps: [{ ...app, signatureHash: 'K8a/AINcGX' }] }),
      'authentication.apps[0].signatureHash: must be the 11 characters',
    ],
    [
      'a code that is tried for an hour',
      { ...code, authentication: copyCode, ttlSeconds: 3600 },
      'ttlSeconds: must be 30 to 900 in the category AUTHENTICATION.',
    ],
    [
      'a lifetime of a marketing template that is shorter than WhatsApp allows',
      { ...base, category: 'MARKETING', ttlSeconds: 600 },
      'ttlSeconds: must be 43200 to 2592000 in the category MARKETING.',
    ],
  ])('%s', (_, template, problem) => {
    expect(problems(template)).toEqual(expect.arrayContaining([expect.stringContaining(problem)]))
  })
})

const control = 'must not contain control characters.'

test.each<[string, object, string]>([
  ['a NUL in the body', body('Hi\0 there.'), `body.text: ${control}`],
  ['an escape in an example', body('Hi {{1}}!', { '1': 'A\u001bda' }), `body.examples.1: ${control}`],
  ['a bell in the footer', { ...base, footer: 'Wayb\u0007ill' }, `footer: ${control}`],
  ['a delete in a header', headline('Order\u007f'), `header.text: ${control}`],
  [
    'a NUL in the address of a button',
    buttons({ ...url, url: 'https://a.example/\0{{1}}' }),
    `buttons[0].url: ${control}`,
  ],
  [
    'a NUL in the screen of a flow',
    buttons({ type: 'FLOW', text: 'Book', flowId: '1', flowAction: 'navigate', navigateScreen: 'A\0' }),
    `buttons[0].navigateScreen: ${control}`,
  ],
  ['a NUL on a card', carousel(card, { ...card, body: { text: 'Aloe\0 vera.' } }), `cards[1].body.text: ${control}`],
  ['a NUL in a label of a code', authentication({ ...copyCode, text: 'Copy\0' }), `authentication.text: ${control}`],
])('rejects %s once', (_, template, problem) => {
  expect(problems(template)).toEqual([problem])
})

test('reports all problems together', () => {
  expect(problems({ ...base, name: 'A', footer: 'Hi {{1}}', buttons: [{ type: 'URL', text: 'Open' }] })).toEqual([
    'name: must have lower-case letters (a to z), digits and underscores only, such as order_shipped.',
    'footer: must not have variables.',
    'buttons[0].url: is required in a button of type URL.',
  ])
})
