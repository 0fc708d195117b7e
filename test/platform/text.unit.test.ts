import { expect, test } from 'vitest'
import { cut } from '../../src/platform/text.ts'

test.each([
  { text: 'parcel', maxLength: 3, becomes: 'par' },
  { text: 'parcel', maxLength: 6, becomes: 'parcel' },
  { text: 'a\u{1f600}b', maxLength: 2, becomes: 'a' },
  { text: 'a\u{1f600}b', maxLength: 3, becomes: 'a\u{1f600}' },
  { text: '\u{1f600}', maxLength: 1, becomes: '' },
  { text: 'a\ud83d', maxLength: 2, becomes: 'a' },
  { text: '\ude00a', maxLength: 2, becomes: '\ufffda' },
])('cuts $text to $maxLength', ({ text, maxLength, becomes }) => {
  expect(cut(text, maxLength)).toBe(becomes)
})
