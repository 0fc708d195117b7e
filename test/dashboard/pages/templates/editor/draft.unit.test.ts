import { expect, test } from 'vitest'
import {
  blankTemplate,
  describePath,
  listProblems,
  newButton,
  newCard,
  nextVariable,
  toPreview,
  toSubmission,
  toVariableName,
  withBodyText,
  withCategory,
  withHeaderFormat,
  withRenamedVariable,
} from '../../../../../src/dashboard/pages/templates/editor/draft.ts'
import { buttonTypes, templateCategories, TemplateDefinition } from '../../../../../contracts/templates/definition.ts'

const drafts: [string, TemplateDefinition][] = [
  ['an empty draft', blankTemplate],
  ...templateCategories.map((category): [string, TemplateDefinition] => [
    category,
    withCategory(blankTemplate, category),
  ]),
  ...(['TEXT', 'IMAGE', 'LOCATION'] as const).map((format): [string, TemplateDefinition] => [
    format,
    { ...blankTemplate, header: withHeaderFormat(format) ?? { format } },
  ]),
  ...buttonTypes.map((type): [string, TemplateDefinition] => [type, { ...blankTemplate, buttons: [newButton(type)] }]),
  ['a carousel', { ...blankTemplate, category: 'MARKETING', cards: [newCard(), newCard()] }],
  ['an offer', { ...blankTemplate, category: 'MARKETING', limitedTimeOffer: { text: '', expires: true } }],
  [
    'a code without its app',
    {
      ...blankTemplate,
      category: 'AUTHENTICATION',
      authentication: { otpType: 'ONE_TAP', apps: [{ packageName: '', signatureHash: '' }] },
    },
  ],
]

test.each(drafts)('previews %s, and reports what is missing', (_, draft) => {
  expect(toPreview(draft).length).toBeGreaterThan(0)
  expect(listProblems(toSubmission(draft))).toHaveProperty('name')
})

test('previews a one-time code in the language of the template', () => {
  expect(toPreview(withCategory({ ...blankTemplate, language: 'es_MX' }, 'AUTHENTICATION'))).toEqual([
    { type: 'BODY', text: 'Tu código de verificación es *{{1}}*. Por tu seguridad, no lo compartas.' },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', text: 'Copiar código' }] },
  ])
})

test('reports problems with their fields in the order of the form', () => {
  const draft = { ...blankTemplate, header: { format: 'IMAGE' as const }, buttons: [newButton('URL')] }

  expect(
    Object.entries(listProblems(toSubmission(draft))).map(([path, problem]) => [describePath(path), problem]),
  ).toEqual([
    ['Name', expect.stringMatching(/^Must have lower-case letters/)],
    ['Header, sample file', expect.stringMatching(/^Choose a file or enter a link/)],
    ['Body', 'Must not be blank.'],
    ['Button 1, label', 'Required.'],
    ['Button 1, URL', 'Required.'],
  ])
  expect(describePath('cards.1.buttons.0.url')).toBe('Card 2, button 1, URL')
  expect(describePath('cards.1.header.sample')).toBe('Card 2, header, sample file')
  expect(describePath('body.examples.first_name')).toBe('Body, example of {{first_name}}')
  expect(describePath('authentication.apps.0.packageName')).toBe('One-time code, app 1, package name')
  expect(describePath('limitedTimeOffer.text')).toBe('Limited-time offer')
  expect(describePath('cards')).toBe('Cards')
})

test('omits empty fields from a submission', () => {
  const draft = { ...blankTemplate, name: 'a', footer: '', header: { format: 'IMAGE' as const, sample: { link: '' } } }

  expect(toSubmission(draft)).toEqual({ ...blankTemplate, name: 'a', header: { format: 'IMAGE', sample: {} } })
})

test('updates examples with the variables of the text', () => {
  const body = { text: 'Hi {{1}} and {{2}}.', examples: { '1': 'Ada', '2': 'Bo' } }

  expect(withBodyText(body, 'Hi {{1}} and {{3}}.')).toEqual({
    text: 'Hi {{1}} and {{3}}.',
    examples: { '1': 'Ada', '3': '' },
  })
  expect(withBodyText(body, 'Hi.')).toEqual({ text: 'Hi.' })
  expect(nextVariable('Hi {{1}} and {{2}}.')).toBe('3')
  expect(nextVariable('Hi {{customer_name}} and {{variable_3}}.')).toBe('variable_4')
})

test.each([
  ['Customer name', 'customer_name'],
  [' order-number ', 'order_number'],
  ['2', '2'],
  ['2nd_name', undefined],
  ['Teléfono', 'telefono'],
  ['größe', undefined],
  ['', undefined],
])('reads the variable name %j as %j', (typed, name) => {
  expect(toVariableName(typed)).toBe(name)
})

test('renames a variable everywhere, with its example', () => {
  const body = { text: 'Hi {{1}}, {{ 1 }} and {{2}}.', examples: { '1': 'Ada', '2': 'Grace' } }

  expect(withRenamedVariable(body, '1', 'first_name')).toEqual({
    text: 'Hi {{first_name}}, {{first_name}} and {{2}}.',
    examples: { first_name: 'Ada', '2': 'Grace' },
  })
})

test('shows no inherited property as the example of a variable of its name', () => {
  const body = withBodyText(undefined, 'Hi {{constructor}}!')
  expect(body).toEqual({ text: 'Hi {{constructor}}!', examples: { constructor: '' } })

  const card = { ...newCard(), body: { text: 'Hi {{constructor}}!' } }
  const draft = { ...blankTemplate, body: { text: 'Hi {{constructor}}!' }, cards: [card, card] }
  expect(JSON.stringify(toPreview(draft))).not.toContain('native code')
  expect(listProblems(toSubmission(draft))).toHaveProperty(['body.examples.constructor'])
})
