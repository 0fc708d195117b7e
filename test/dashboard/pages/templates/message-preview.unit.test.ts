import { describe, expect, test } from 'vitest'
import { fillText, parseFormatting, type Piece } from '../../../../src/dashboard/pages/templates/message-text.ts'
import { placeProblems } from '../../../../src/dashboard/pages/templates/template-values.ts'

describe('parseFormatting', () => {
  test.each([
    { text: 'plain', shows: 'plain' },
    { text: '*bold* _italic_ ~strike~', shows: '<bold> <italic> <strike>'.replace(/<(\w+)>/g, '<$1>$1</$1>') },
    { text: '*bold _and italic_*', shows: '<bold>bold <italic>and italic</italic></bold>' },
    { text: '(*bold*), *bold*!', shows: '(<bold>bold</bold>), <bold>bold</bold>!' },
    { text: '```a *b* c```', shows: '<mono>a *b* c</mono>' },
    { text: '```two\nlines``` `one`', shows: '<mono>two\nlines</mono> <mono>one</mono>' },
    { text: '2*3*4 and snake_case_name', shows: '2*3*4 and snake_case_name' },
    { text: '* not * bold', shows: '* not * bold' },
    { text: '*not\nbold*', shows: '*not\nbold*' },
    { text: '*open', shows: '*open' },
    { text: '*élan*é', shows: '*élan*é' },
    { text: '** _ ~~ ``` ***', shows: '** _ ~~ ``` ***' },
  ])('$text', ({ text, shows }) => {
    expect(write(parseFormatting(text))).toBe(shows)
  })
})

function write(pieces: Piece[]): string {
  return pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text
      const inner = 'text' in piece ? piece.text : write(piece.pieces)
      return `<${piece.kind}>${inner}</${piece.kind}>`
    })
    .join('')
}

test('keeps a placeholder without a value visible', () => {
  const text = 'Hello {{1}} and {{ name }}, {{2}}{{constructor}}'
  expect(fillText(text, { '1': 'Ada', name: '$&', '2': '' })).toBe('Hello Ada and $&, {{2}}{{constructor}}')
})

function place(fields: Record<string, string>) {
  return placeProblems(
    { message: 'All of it.', fields },
    { keys: ['1', 'name'], paths: ['header.text', 'buttons.0.url'] },
  )
}

describe('placeProblems', () => {
  test('assigns problems to fields by name', () => {
    const fields = { to: 'Must be digits.', 'variables.1': 'Must be a string.', 'variables.name': 'Is missing.' }
    expect(place(fields)).toEqual({ fields, rest: undefined })
  })

  test('assigns the problems of a header and a button to their fields', () => {
    expect(place({ 'header.text': 'Must not be empty.', 'buttons.0.url': 'Must not be empty.' })).toEqual({
      fields: { 'values.header.text': 'Must not be empty.', 'values.buttons.0.url': 'Must not be empty.' },
      rest: undefined,
    })
    expect(place({ buttons: 'Is missing.' }).rest).toBe('All of it.')
  })

  test('returns problems without a field as a whole', () => {
    expect(place({ variables: 'make the body too long.' })).toEqual({ fields: {}, rest: 'All of it.' })
    expect(place({ 'variables.2': 'Must not be empty.' }).rest).toBe('All of it.')
    expect(place({ template: 'cannot be sent.' }).rest).toBe('All of it.')
    expect(place({}).rest).toBe('All of it.')
  })
})
