import { expect, test } from 'vitest'
import { cleanFilename, nameOfLink } from '../../src/media/types.ts'

test.each([
  { path: 'Invoice%207.pdf', name: 'Invoice 7.pdf' },
  { path: 'M%C3%BCller.pdf', name: 'Müller.pdf' },
  { path: '100%.pdf', name: '100%.pdf' },
  { path: '100%25%20off%ff.pdf', name: '100% off%ff.pdf' },
  { path: '%E2%28.pdf', name: '%E2%28.pdf' },
  { path: '..%2F..%2Fsecret.pdf', name: 'secret.pdf' },
  { path: 'download', name: undefined },
])('names the file at $path', ({ path, name }) => {
  expect(nameOfLink(`https://example.com/files/${path}?token=1`)).toBe(name)
})

test('keeps the extension of a name that is too long', () => {
  expect(cleanFilename(`${'a'.repeat(300)}.pdf`)).toBe(`${'a'.repeat(236)}.pdf`)
})
