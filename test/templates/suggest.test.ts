import { describe, expect, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { suggest } from '../../src/templates/suggest.ts'
import { forFile } from '../support/lifetime.ts'
import { startTestServer } from '../support/server.ts'

const server = await forFile(startTestServer())
const account = await server.account()

describe('the nearest template', () => {
  const candidates = [
    { name: 'order_shipped', language: 'en' },
    { name: 'order_shipped', language: 'es' },
    { name: 'order_stopped', language: 'de' },
  ]

  test.each([
    { name: 'order_shiped', language: 'en', suggestion: 'Did you mean "order_shipped" in language en?' },
    { name: 'ordre_shipped', language: 'es_MX', suggestion: 'Did you mean "order_shipped" in language es?' },
    { name: 'Order_Stopped', language: 'de', suggestion: 'Did you mean "order_stopped" in language de?' },
    { name: 'order_shipped', language: 'es_MX', suggestion: 'It exists in es and en.' },
    { name: 'welcome', language: 'en', suggestion: undefined },
    { name: '', language: 'en', suggestion: undefined },
  ])('of $name in $language', ({ name, language, suggestion }) => {
    expect(suggest({ name, language }, candidates)).toBe(suggestion)
  })

  test('lists five languages at most', () => {
    const many = ['af', 'ar', 'bg', 'bn', 'ca', 'cs', 'en_GB'].map((language) => ({ name: 'a', language }))

    expect(suggest({ name: 'a', language: 'en' }, many)).toBe('It exists in en_GB, af, ar, bg, bn and other languages.')
  })

  test('differs by at most three changes', () => {
    const near = { name: 'order_shipped_today_at_noon', language: 'en' }

    expect(suggest({ name: 'ordre_shiped_todayat_noon', language: 'en' }, [near])).toContain(near.name)
    expect(suggest({ name: 'ordre_shiped_todayat_nooon', language: 'en' }, [near])).toBeUndefined()
  })
})

describe('an unknown template', () => {
  const misspelled = { ...sendMessage.example.input, template: 'order_shiped' }
  const suggestion = 'There is no template "order_shiped" in language en. Did you mean "order_shipped" in language en?'

  test.each(['/api/v1/message/send', '/api/v1/message/preview'])('receives a suggestion from %s', async (path) => {
    const response = await account.post(path, misspelled)

    expect(response.statusCode).toBe(404)
    expect(response.json().error).toEqual({ code: 'TEMPLATE_NOT_FOUND', message: suggestion })
  })

  test('receives a suggestion when it is read', async () => {
    const response = await account.get('/api/v1/template/order_shiped/en')

    expect(response.json().error).toEqual({ code: 'TEMPLATE_NOT_FOUND', message: suggestion })
  })

  test('never receives a suggestion of another account or of an unapproved template', async () => {
    const other = await server.account()
    await other.template({ name: 'secret_offer', body: 'Hi', status: 'APPROVED' })
    await account.template({ name: 'paused_offer', body: 'Hi', status: 'PAUSED' })

    for (const template of ['secret_ofer', 'paused_ofer']) {
      const { message } = (await account.post('/api/v1/message/send', { ...misspelled, template })).json().error
      expect(message).toBe(`There is no template "${template}" in language en.`)
    }
  })
})
