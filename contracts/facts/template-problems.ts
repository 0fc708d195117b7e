import { defineFacts, type Fact } from './fact.ts'

/** Why WhatsApp would reject a template: without the subject and the full stop. */
export const templateProblems = defineFacts('templateProblem', {
  name: 'must have lower-case letters (a to z), digits and underscores only, such as order_shipped',
  language: 'must be a language of WhatsApp, such as en, en_US, es or pt_BR',
  length: 'must have at most {limit} characters; it has {length}',
  ttl: 'must be {least} to {most} in the category {category}',
  notInAuthentication: 'must be left out: WhatsApp writes the text of an AUTHENTICATION template itself',
  requiredAuthentication: `is required in the category AUTHENTICATION, such as '{ "otpType": "COPY_CODE" }'`,
  expiration: 'must be 1 to {most}',
  noOneTap: 'must be left out: COPY_CODE has no one-tap button',
  noApp: 'must be left out: COPY_CODE opens no app',
  apps: 'must have 1 to {apps} apps: {otpType} hands the code to an Android app',
  zeroTapTerms: 'must be true: WhatsApp requires that you accept its terms for zero-tap codes',
  androidPackage: 'must be an Android package of two or more segments, such as com.example.shop',
  signatureHash: 'must be the 11 characters of the app’s signing key hash',
  notInCategory: 'must be left out in the category {category}',
  requiredInCategory: 'is required in the category {category}',
  emptyList: 'must not be empty: leave it out instead',
  oneSpm: 'must be one SPM button under a product',
  spmUnderProduct: 'must have SPM under a header of format PRODUCT only',
  headerWithoutText: 'must be left out: a header of format {format} has no text',
  headerWithoutVariable: 'must be left out: a header of format {format} has no variable',
  sample: 'must have exactly one of link and handle: WhatsApp reviews a sample of the file',
  headerWithoutFile: 'must be left out: a header of format {format} has no file',
  requiredHeaderText: 'is required in a header of format TEXT',
  oneVariable: 'must have at most one variable',
  numberOfVariable: "must number its variable '{{1}}'",
  requiredExample: "is required: WhatsApp reviews an example value of '{{'{key}'}}'",
  noVariable: 'must be left out: the text has no variable',
  blank: 'must not be blank',
  lineBreaks: 'must not have more than two line breaks in a row',
  noSuchVariable: "must be left out: the text has no '{{'{key}'}}'",
  exampleSpaces: 'must not have a line break, a tab or more than four spaces in a row',
  variableForm:
    "must write each variable as '{{1}}' or '{{first_name}}': two braces, and letters, digits and underscores inside",
  variableCase: "must name variables in lower case: '{{'{right}'}}', not '{{'{wrong}'}}'",
  startsWithVariable: 'must not start with a variable: put words before it',
  endsWithVariable: 'must not end with a variable: put words or a full stop after it',
  adjacentVariables: 'must not have two variables next to each other: put words between them',
  mixedVariables:
    "must have either numbered variables such as '{{1}}' or named ones such as '{{first_name}}', not both",
  gap: "must number its variables without a gap, from '{{1}}' to '{{'{last}'}}': '{{'{missing}'}}' is missing",
  oneLine: 'must be one line: no line break and no tab',
  controlCharacters: 'must not contain control characters',
  emoji: 'must not have emoji',
  formatting: 'must not have emoji or formatting (asterisks, underscores around words, tildes, backticks)',
  variables: 'must not have variables',
  buttonsOfType: 'must have at most {most} of type {type}; there are {count}',
  buttons: 'must have at most {buttons} buttons; there are {length}',
  quickReplies: 'must have all QUICK_REPLY buttons together, before or after the others',
  buttonBeside: 'must have no other button beside {type}',
  requiredInButton: 'is required in a button of type {type}',
  notInButton: 'must be left out: a button of type {type} has none',
  phoneNumber: 'must be the country code and the number, such as +34600111222: digits only, at most 20 characters',
  couponCode: 'must have letters (a to z) and digits only',
  screen: 'must be left out: with data_exchange your endpoint chooses the screen',
  address: "must be a complete address, such as https://example.com/track/'{{1}}'",
  addressVariable: "must have its variable at the very end, such as https://example.com/track/'{{1}}'",
  whatsAppLink: 'must not lead to WhatsApp itself: WhatsApp rejects wa.me links',
  requiredAddressExample: 'is required: WhatsApp reviews an example value of the variable in the address',
  noAddressVariable: 'must be left out: the address has no variable',
  cards: 'must have 2 to {cards} cards; there are {length}',
  notWithCards: 'must be left out: a carousel has a body and cards only',
  formatOfCards: 'must be {format}, as on the first card',
  onAllCards: 'must be on all cards or on none',
  buttonsOfCards: 'must have the same kinds of buttons in the same order as the first card',
  cardFormat: 'must be IMAGE, VIDEO or PRODUCT: a card shows a picture, a video or a product',
  productCard: 'must be left out: a product card has no text',
  cardButtons: 'must have 1 or {cardButtons} buttons',
  cardButtonType: 'must be {types} on a card',
  offerCategory: 'requires the category MARKETING',
  offerFooter: 'must be left out: a limited-time offer has no footer',
  offerHeader: 'must be IMAGE or VIDEO in a limited-time offer',
  offerButtons: 'must be one URL button, or COPY_CODE followed by URL, in a limited-time offer',
})

/** What the editor of the dashboard says instead, beside the field. */
const inForm = defineFacts('templateProblem.inForm', {
  requiredInCategory: 'required in the category {category}',
  requiredExample: "required: WhatsApp reviews an example value of '{{'{key}'}}'",
  requiredAddressExample: 'required: WhatsApp reviews an example value of the variable in the address',
  required: 'required',
})

const ofForm: Partial<Record<string, string>> = {
  [templateProblems.requiredInCategory({ category: '' }).code]: inForm.requiredInCategory({ category: '' }).code,
  [templateProblems.requiredExample({ key: '' }).code]: inForm.requiredExample({ key: '' }).code,
  [templateProblems.requiredAddressExample().code]: inForm.requiredAddressExample().code,
  [templateProblems.requiredHeaderText().code]: inForm.required().code,
  [templateProblems.requiredInButton({ type: '' }).code]: inForm.required().code,
}

export function toFormProblem(problem: Fact): Fact {
  return { ...problem, code: ofForm[problem.code] ?? problem.code }
}

/** The file types of samples, by the format of the header. */
export const sampleTypes = defineFacts('sampleType', {
  IMAGE: 'a JPEG or PNG image',
  VIDEO: 'an MP4 video',
  DOCUMENT: 'a PDF document',
})
