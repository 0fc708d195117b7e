import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fill, listPlaceholders, type TemplateText } from '../../../src/templates/placeholders.ts'
import { formatProblem } from '../../../src/templates/fill/problem.ts'
import { countCharacters, findVariableProblems, listParameters } from '../../../src/templates/fill/variables.ts'

const shipped = {
  parameterFormat: 'POSITIONAL',
  components: [
    {
      type: 'BODY',
      text: 'Hello {{1}}, your order {{2}} is on its way.',
      example: { body_text: [['Ada', 'WB-1042']] },
    },
    { type: 'FOOTER', text: 'Bye' },
  ],
}
const plain = { parameterFormat: 'POSITIONAL', components: [{ type: 'BODY', text: 'Welcome.' }] }
const named = { parameterFormat: 'NAMED', components: [{ type: 'BODY', text: 'Hi {{first_name}}, {{order}}.' }] }

interface Case {
  template: TemplateText
  variables: Record<string, string>
  problems: string[]
}

test.each(
  Object.entries<Case>({
    'all are present': { template: shipped, variables: { '1': 'Ada', '2': 'WB-1' }, problems: [] },
    'none is needed': { template: plain, variables: {}, problems: [] },
    'keys are names': { template: named, variables: { first_name: 'Ada', order: 'WB-1' }, problems: [] },
    'one is missing': { template: shipped, variables: { '1': 'Ada' }, problems: ['"2" is missing; it fills {{2}}'] },
    'a number is not a name': {
      template: named,
      variables: { '1': 'Ada', order: 'x' },
      problems: [
        '"first_name" is missing; it fills {{first_name}}',
        'the template takes "first_name", "order"; remove "1"',
      ],
    },
    'there is an extra one': {
      template: shipped,
      variables: { '1': 'Ada', '2': 'x', '3': 'y' },
      problems: ['the template takes "1", "2"; remove "3"'],
    },
    'the template has none': {
      template: plain,
      variables: { '1': 'Ada' },
      problems: ['the template takes no variables; remove "1"'],
    },
    'it is empty': { template: shipped, variables: { '1': '', '2': 'x' }, problems: ['"1" must not be empty'] },
    'it is blank': { template: shipped, variables: { '1': '  ', '2': 'x' }, problems: ['"1" must not be empty'] },
    'it contains a newline': {
      template: shipped,
      variables: { '1': 'a\nb', '2': 'x' },
      problems: ['"1" must not contain a line break'],
    },
    ...Object.fromEntries(
      ['a\rb', 'a\u2028b', 'a\u2029b', 'a\n'].map((value) => [
        `${JSON.stringify(value)} contains a line break`,
        { template: shipped, variables: { '1': value, '2': 'x' }, problems: ['"1" must not contain a line break'] },
      ]),
    ),
    'it contains a NUL character': {
      template: shipped,
      variables: { '1': 'a\0b', '2': 'x' },
      problems: ['"1" must not contain a NUL character'],
    },
    'five are unknown': {
      template: plain,
      variables: { a: '', b: '', c: '', d: '', e: '' },
      problems: ['the template takes no variables; remove "a", "b", "c", "d", "e"'],
    },
    'seven are unknown': {
      template: plain,
      variables: { a: '', b: '', c: '', d: '', e: '', f: '', g: '' },
      problems: ['the template takes no variables; remove "a", "b", "c", "d", "e" and 2 more'],
    },
    'the name of an unknown one is long': {
      template: plain,
      variables: { ['x'.repeat(65)]: '' },
      problems: [`the template takes no variables; remove "${'x'.repeat(64)}"`],
    },
    'several have problems': {
      template: shipped,
      variables: { '1': '', '3': 'y' },
      problems: ['"2" is missing; it fills {{2}}', 'the template takes "1", "2"; remove "3"', '"1" must not be empty'],
    },
    'it contains a tab': {
      template: shipped,
      variables: { '1': 'a\tb', '2': 'x' },
      problems: ['"1" must not contain a tab'],
    },
    'four spaces are allowed': { template: shipped, variables: { '1': 'a    b', '2': 'x' }, problems: [] },
    'five spaces are too many': {
      template: shipped,
      variables: { '1': 'a     b', '2': 'x' },
      problems: ['"1" must not contain more than four spaces in a row'],
    },
  }),
)('checks variables: %s', (_because, { template, variables, problems }) => {
  expect(findVariableProblems(template, variables).map(formatProblem)).toEqual(problems)
})

/** A value that makes `Hello {{1}}` exactly this many characters long. */
function fillHelloTo(characters: number): Record<string, string> {
  return { '1': 'x'.repeat(characters - 'Hello '.length) }
}

test('limits the body to 1,024 characters with other components and to 32,768 without', () => {
  const text = 'Hello {{1}}'
  const alone = { parameterFormat: 'POSITIONAL', components: [{ type: 'BODY', text }] }
  const withFooter = { parameterFormat: 'POSITIONAL', components: [...alone.components, { type: 'FOOTER', text: 'x' }] }

  expect(findVariableProblems(withFooter, fillHelloTo(1024))).toEqual([])
  expect(findVariableProblems(withFooter, fillHelloTo(1025))).toHaveLength(1)
  expect(findVariableProblems(alone, fillHelloTo(32_768))).toEqual([])
  expect(findVariableProblems(alone, fillHelloTo(32_769))).toHaveLength(1)
})

test('lists each placeholder once, sorted by number, with its approved example', () => {
  const template = {
    parameterFormat: 'POSITIONAL',
    components: [{ type: 'BODY', text: '{{2}} {{10}} {{1}} {{ 2 }}', example: { body_text: [['a', 'b']] } }],
  }
  expect(listPlaceholders(template)).toEqual([{ key: '1', example: 'a' }, { key: '2', example: 'b' }, { key: '10' }])
})

test('replaces every placeholder with its exact value', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 12 }), (values) => {
      const text = values.map((_, index) => `<{{${index + 1}}}>`).join('')
      const variables = Object.fromEntries(values.map((value, index) => [String(index + 1), value]))
      expect(fill(text, variables)).toBe(values.map((value) => `<${value}>`).join(''))
    }),
  )
})

test('reports a missing variable even if it is named like an object property', () => {
  const template = { parameterFormat: 'NAMED', components: [{ type: 'BODY', text: 'Hi {{constructor}}' }] }
  expect(findVariableProblems(template, {})).toEqual([
    { key: 'constructor', problem: 'is missing; it fills {{constructor}}' },
  ])
  expect(fill('Hi {{constructor}}', {})).toBe('Hi {{constructor}}')
})

test('counts a character of two units once', () => {
  const text = '\u{1F98A}'.repeat(6)
  expect(countCharacters(text, 5)).toBe(6)
  expect(countCharacters(text, 12)).toBe(12)
  expect(countCharacters('', 0)).toBe(0)
})

test('compares the filled body with the limit of the caller, and reports both', () => {
  const template = { parameterFormat: 'POSITIONAL', components: [{ type: 'BODY', text: 'Hello {{1}}' }] }
  expect(findVariableProblems(template, { '1': '\u{1F98A}\u{1F98A}' }, 8)).toEqual([])
  expect(findVariableProblems(template, { '1': 'Ada' }, 8)).toEqual([
    { problem: 'make the body 9 characters long; WhatsApp allows at most 8' },
  ])
  expect(findVariableProblems({ ...template, components: [{ type: 'FOOTER', text: 'Bye' }] }, {}, 0)).toEqual([])
})

test('lists values in the order of the placeholders, with their names if they have any', () => {
  expect(listParameters(shipped, { '2': 'WB-1', '1': 'Ada' })).toEqual([{ text: 'Ada' }, { text: 'WB-1' }])
  expect(listParameters(named, { order: 'WB-1' })).toEqual([
    { name: 'first_name', text: '' },
    { name: 'order', text: 'WB-1' },
  ])
})
