import { symlink, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { folderForFile, forFile } from '../../support/lifetime.ts'
import { pdf, png } from '../../support/media-files.ts'
import { createInstallation } from '../installation.ts'
import { runHere } from '../run-command.ts'

const simulator = await forFile(startSimulator())
const installation = await forFile(createInstallation(simulator.url))
const folder = await folderForFile()
const accountId = await addAccount('7')
async function addAccount(digit: string): Promise<string> {
  const number = { phoneNumberId: digit.repeat(12), wabaId: digit.repeat(13), accessToken: `EAA${digit}` }
  simulator.addPhoneNumber(number)
  const account = await installation.json(['account', 'create', '--name', 'Shop'])
  const add = ['whatsapp', 'add', account.accountId, '--phone-number-id', number.phoneNumberId]
  await installation.json([...add, '--waba-id', number.wabaId, '--access-token', number.accessToken])
  return account.accountId
}

const waybill = (...args: string[]) => runHere(args, installation.environment)

async function write(name: string, content: Buffer): Promise<string> {
  const file = path.join(folder, name)
  await writeFile(file, content)
  return file
}

/** The only file in a JSON response. */
function parse({ stdout, stderr, exitCode }: Awaited<ReturnType<typeof waybill>>): Record<string, string> {
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  return JSON.parse(stdout) as Record<string, string>
}

test('uploads a file, shows it and deletes it', async () => {
  const before = [...simulator.media.values()]
  const content = pdf()
  const file = await write('Rechnung 7.pdf', content)

  const media = parse(await waybill('media', 'upload', accountId, file, '--json'))
  expect(media).toMatchObject({ kind: 'document', type: 'application/pdf', filename: 'Rechnung 7.pdf', size: 256 })
  const mediaId = media['mediaId'] ?? ''
  expect([...simulator.media.values()]).toContainEqual(expect.objectContaining({ type: 'application/pdf', size: 256 }))
  expect(parse(await waybill('media', 'get', accountId, mediaId, '--json'))).toEqual(media)
  expect(parse(await waybill('media', 'upload', accountId, file, '--json'))['mediaId']).toBe(mediaId)
  expect((await waybill('media', 'get', accountId, mediaId)).stdout).toContain(
    'Rechnung 7.pdf, document, application/pdf, 256 bytes',
  )

  expect((await waybill('media', 'delete', accountId, mediaId)).stdout).toBe(`Deleted ${mediaId}.\n`)

  expect(await waybill('media', 'get', accountId, mediaId)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('no file with this ID'),
  })
  expect([...simulator.media.values()]).toEqual(before)
  const audit = await installation.json(['audit', 'list', accountId])
  expect(audit.items.map(({ what }) => what)).toEqual(
    expect.arrayContaining(['uploaded a file', `deleted the file ${mediaId}`]),
  )
})

test('names a document with --filename', async () => {
  const file = await write('scan0001.pdf', pdf())
  const media = parse(await waybill('media', 'upload', accountId, file, '--filename', 'Invoice.pdf', '--json'))
  expect(media['filename']).toBe('Invoice.pdf')
})

test('neither shows nor deletes a file of another account', async () => {
  const { mediaId = '' } = parse(await waybill('media', 'upload', accountId, await write('a.png', png()), '--json'))
  const other = await addAccount('8')

  expect(await waybill('media', 'get', other, mediaId)).toMatchObject({ exitCode: 1, stdout: '' })
  expect(await waybill('media', 'delete', other, mediaId)).toMatchObject({ exitCode: 1, stdout: '' })
  expect(parse(await waybill('media', 'get', accountId, mediaId, '--json'))['mediaId']).toBe(mediaId)
})

test.each([
  { name: 'page.png', content: Buffer.from('<!doctype html>'), says: 'of no type that a template can show' },
  { name: 'empty.png', content: Buffer.alloc(0), says: 'must not be empty' },
  { name: 'large.png', content: png(), size: 6 * 1024 * 1024, says: 'larger than 5 MB' },
])('rejects the file $name', async ({ name, content, size, says }) => {
  const file = await write(name, content)
  if (size !== undefined) await truncate(file, size)
  const before = simulator.media.size

  expect(await waybill('media', 'upload', accountId, file)).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining(says),
  })
  expect(simulator.media.size).toBe(before)
})

test('rejects a path without a file, and a link to a private address', async () => {
  await symlink('nowhere', path.join(folder, 'broken.png'))
  for (const file of [path.join(folder, 'missing.png'), path.join(folder, 'broken.png'), folder])
    expect(await waybill('media', 'upload', accountId, file)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('There is no file'),
    })
  expect(await waybill('media', 'upload', accountId, 'http://127.0.0.1:9/a.png')).toMatchObject({
    exitCode: 1,
    stdout: '',
  })
  expect(await waybill('media', 'upload', 'acc_unknown', path.join(folder, 'a.png'))).toMatchObject({ exitCode: 1 })
})
