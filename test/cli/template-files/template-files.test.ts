import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseTemplateFile, printTemplateFile } from '../../../src/cli/template-files/file.ts'
import { makeGalleryTemplate } from '../../../contracts/templates/gallery.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import { createInstallation } from '../installation.ts'
import { runHere } from '../run-command.ts'
import { folderForTest, forFile } from '../../support/lifetime.ts'

let accounts = 0

const simulator = await forFile(startSimulator())
const installation = await forFile(createInstallation(simulator.url))
let accountId: string
let folder: string
beforeEach(async () => {
  accountId = await addAccount()
  folder = await folderForTest()
})

async function addAccount(): Promise<string> {
  const id = String(++accounts).padStart(4, '0')
  const number = { phoneNumberId: `4100${id}`, wabaId: `4200${id}`, accessToken: `EAAfiles${id}` }
  simulator.addPhoneNumber(number)
  const account = await installation.json(['account', 'create', '--name', 'Shop'])
  const add = ['whatsapp', 'add', account.accountId, '--phone-number-id', number.phoneNumberId]
  await installation.json([...add, '--waba-id', number.wabaId, '--access-token', number.accessToken])
  return account.accountId
}

const list = () => simulator.templatesOf(`4200${String(accounts).padStart(4, '0')}`)
const waybill = (...args: string[]) => runHere(args, installation.environment)
const write = (file: string, content: string) => writeFile(path.join(folder, file), content)
const push = (...options: string[]) => waybill('template', 'push', accountId, folder, ...options)
const names = () =>
  list()
    .all()
    .map(({ name, language }) => `${name}.${language}`)

const lifetimes = () =>
  Object.fromEntries(
    list()
      .all()
      .map(({ name, message_send_ttl_seconds }) => [name, message_send_ttl_seconds]),
  )

describe('pull and push', () => {
  test('write files that change nothing when they are pushed back', async () => {
    list().add({ name: 'order_shipped', language: 'en', body: 'Your order is on its way.' })
    list().add({
      name: 'product_card',
      components: [
        { type: 'HEADER', format: 'PRODUCT' },
        { type: 'BODY', text: 'Hi.' },
      ],
    })
    const pulled = await waybill('template', 'pull', accountId, folder)

    expect(pulled).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Wrote 1 templates') })
    expect(pulled.stdout).toContain('Skipped product_card (en): it has a header of format PRODUCT without')
    expect((await readdir(folder)).toSorted()).toEqual(['order_shipped.en.yaml', 'template.schema.json'])
    const yaml = await readFile(path.join(folder, 'order_shipped.en.yaml'), 'utf8')
    expect(yaml).toBe(
      '# yaml-language-server: $schema=./template.schema.json\nname: order_shipped\nlanguage: en\ncategory: UTILITY\nbody:\n  text: Your order is on its way.\n',
    )
    const schema = new Ajv2020({ strict: false }).compile(
      JSON.parse(await readFile(path.join(folder, 'template.schema.json'), 'utf8')) as object,
    )
    expect(schema(parse(yaml))).toBe(true)
    expect(schema({ ...(parse(yaml) as object), footre: 'A' })).toBe(false)
    expect(await push('--check')).toMatchObject({ exitCode: 0 })
  })

  test('copy templates to another account, with the sample beside the file', async () => {
    const template = makeGalleryTemplate('order_shipped', 'es')
    await mkdir(path.join(folder, 'shop'))
    await write('shop/order_shipped.es.yaml', printTemplateFile(template))
    await write('shop/invoice.pdf', '%PDF-1.7 a sample')
    await write(
      'invoice.yml',
      'name: invoice\nlanguage: en\ncategory: UTILITY\nheader:\n  format: DOCUMENT\n  sample:\n    file: shop/invoice.pdf\nbody:\n  text: Here is your invoice.\n',
    )
    const pushed = await push()

    expect(pushed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('2 of 2 changes made') })
    expect(names().toSorted()).toEqual(['invoice.en', 'order_shipped.es'])
    const checked = await push('--check')
    expect(checked).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('2 templates are the same.') })
  })

  test('show each difference, change nothing, and exit with 1 with --check', async () => {
    list().add({ name: 'order_shipped', language: 'en', body: 'Your order is on its way.' })
    await write('a.yaml', 'name: order_shipped\nlanguage: en\ncategory: UTILITY\nbody:\n  text: It is on its way.\n')
    await write('b.yaml', printTemplateFile(makeGalleryTemplate('login_code', 'de')))
    const checked = await push('--check')

    expect(checked.exitCode).toBe(1)
    expect(checked.stdout).toContain('update    order_shipped (en)')
    expect(checked.stdout).toContain('- body.text: "Your order is on its way."')
    expect(checked.stdout).toContain('+ body.text: "It is on its way."')
    expect(checked.stdout).toContain('create    login_code (de)')
    expect(names()).toEqual(['order_shipped.en'])
  })

  test('update a template whose lifetime differs from that in its file', async () => {
    list().add({ name: 'order_shipped', body: 'It is on its way.', message_send_ttl_seconds: 600 })
    list().add({ name: 'order_ready', body: 'It is ready.', message_send_ttl_seconds: 600 })
    await write('b.yaml', 'name: order_ready\nlanguage: en\ncategory: UTILITY\nbody:\n  text: It is ready.\n')
    const yaml = 'name: order_shipped\nlanguage: en\ncategory: UTILITY\nbody:\n  text: It is on its way.\n'
    await write('a.yaml', `${yaml}ttlSeconds: 600\n`)
    expect(await push('--check')).toMatchObject({ exitCode: 0 })

    await write('a.yaml', `${yaml}ttlSeconds: 900\n`)
    const checked = await push('--check')
    expect(checked).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('1 templates are the same.') })
    expect(checked.stdout).toMatch(/- ttlSeconds: 600\s+\+ ttlSeconds: 900/)

    expect(await push()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 of 1 changes made') })
    expect(lifetimes()).toEqual({ order_shipped: 900, order_ready: 600 })
    expect(await push('--check')).toMatchObject({ exitCode: 0 })
  })

  test('delete templates without a file only with --delete', async () => {
    list().add({ name: 'order_shipped', language: 'en', body: 'Your order is on its way.' })

    expect(await push()).toMatchObject({ exitCode: 0 })
    expect(names()).toEqual(['order_shipped.en'])
    expect(await push('--delete')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Check the path') })
    expect(names()).toEqual(['order_shipped.en'])
    await write('other.yaml', printTemplateFile(makeGalleryTemplate('login_code', 'de')))
    expect(await push('--check', '--delete')).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('delete') })
    expect(await push('--delete')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('✓ deleted order_shipped'),
    })
    expect(names()).toEqual(['login_code.de'])
  })

  test('change nothing if the rules forbid one file', async () => {
    await write('a.yaml', printTemplateFile(makeGalleryTemplate('login_code', 'de')))
    await write('b.yaml', 'name: greeting\nlanguage: en\ncategory: UTILITY\nbody:\n  text: "{{1}}, hello."\n')
    const refused = await push()

    expect(refused.exitCode).toBe(1)
    expect(refused.stdout).toContain('greeting (en): body.text: must not start with a variable')
    expect(names()).toEqual([])
  })

  test('continue after a rejected template, and report it', async () => {
    await write(
      'a.yaml',
      'name: short\nlanguage: en\ncategory: UTILITY\nbody:\n  text: A {{1}} , {{2}} .\n  examples: {"1": a, "2": b}\n',
    )
    await write('b.yaml', printTemplateFile(makeGalleryTemplate('login_code', 'de')))
    const pushed = await push()

    expect(pushed.exitCode).toBe(1)
    expect(pushed.stdout).toContain('✗ create short (en): The body has too many variables for its length.')
    expect(names()).toEqual(['login_code.de'])
  })
})

describe('a file', () => {
  test.each([
    ['an unknown field', 'name: a\nlanguage: en\ncategory: UTILITY\nfooters: A\n', 'file: Unrecognized key: "footers"'],
    ['a missing field', 'name: a\nlanguage: en\n', 'category: Invalid option'],
    ['broken YAML', 'name: "a', 'is not YAML'],
    ['a bomb of aliases', 'a: &a [1]\nb: [*a, *a]\n', 'is not YAML'],
    ['no object', '- a', 'is not a template'],
  ])('with %s is a usage error that names the file', async (_, content, problem) => {
    await write('a.yaml', content)
    const refused = await push('--check')

    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(path.join(folder, 'a.yaml'))
    expect(refused.stderr).toContain(problem)
  })

  test('cannot describe a template twice', async () => {
    await write('a.yaml', printTemplateFile(makeGalleryTemplate('login_code', 'de')))
    await write('b.yaml', printTemplateFile(makeGalleryTemplate('login_code', 'de')))

    expect(await push()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('are the same template') })
  })

  test('reads back as it was printed', () => {
    const template = makeGalleryTemplate('payment_failed', 'fr')

    expect(parseTemplateFile(printTemplateFile(template), 'a.yaml')).toEqual(template)
  })
})

test('create, update, duplicate and delete work on one template', async () => {
  const file = path.join(folder, 'a.yaml')
  await write('a.yaml', 'name: note_rejected\nlanguage: en\ncategory: UTILITY\nbody:\n  text: A note.\n')
  const created = await waybill('template', 'create', accountId, '--file', file, '--json')
  expect(JSON.parse(created.stdout)).toMatchObject({ name: 'note_rejected', status: 'PENDING', changed: true })

  list().set('note_rejected', 'en', { status: 'REJECTED' })
  await waybill('template', 'sync', accountId)
  await write('a.yaml', 'name: note_rejected\nlanguage: en\ncategory: UTILITY\nbody:\n  text: Another note.\n')
  expect(await waybill('template', 'update', accountId, '--file', file)).toMatchObject({ exitCode: 0 })
  const copy = ['template', 'duplicate', accountId, 'note_rejected', 'en', '--new-name', 'note_2']
  expect(await waybill(...copy)).toMatchObject({ exitCode: 0 })
  expect(await waybill('template', 'delete', accountId, 'note_rejected')).toMatchObject({ exitCode: 1 })
  const deleted = await waybill('template', 'delete', accountId, 'note_rejected', '--language', 'en')
  expect(deleted).toMatchObject({ exitCode: 0, stdout: 'Deleted note_rejected (en).\n' })
  expect(names()).toEqual(['note_2.en'])
  const missing = await waybill('template', 'create', accountId, '--file', path.join(folder, 'none.yaml'))
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('cannot be read') })
})
