import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { createSigner } from '../../../src/webhooks/sender/sign.ts'

const sign = createSigner()
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`

test('reproduces the test vector of the Standard Webhooks libraries', () => {
  const content = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampSeconds: 1614265330, payload: '{"test": 2432232314}' }
  expect(sign(content, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test('signs any payload so that a standard verifier accepts it', () => {
  fc.assert(
    fc.property(fc.json(), fc.stringMatching(/^evt_[0-9a-z]{26}$/), (payload, id) => {
      const secret = newSecret()
      const timestampSeconds = Math.floor(Date.now() / 1000)
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': sign({ id, timestampSeconds, payload }, [secret]),
      }
      expect(new Webhook(secret).verify(payload, headers)).toEqual(JSON.parse(payload))
      expect(() => new Webhook(secret).verify(`${payload} `, headers)).toThrow('No matching signature')
    }),
  )
})

test('adds a signature for each of two secrets', () => {
  const [current, previous] = [newSecret(), newSecret()]
  const timestampSeconds = Math.floor(Date.now() / 1000)
  const signature = sign({ id: 'evt_1', timestampSeconds, payload: '{}' }, [current, previous])
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signature,
  }
  expect(signature.split(' ')).toHaveLength(2)
  for (const secret of [current, previous]) expect(new Webhook(secret).verify('{}', headers)).toEqual({})
  expect(() => new Webhook(newSecret()).verify('{}', headers)).toThrow('No matching signature')
})
