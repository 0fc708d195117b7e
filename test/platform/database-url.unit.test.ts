import { expect, test } from 'vitest'
import { parseDatabaseUrl } from '../../src/platform/database-url.ts'

const one = 'postgres://waybill:p%40ss@db.example.com:6432/waybill?sslmode=verify-full'

test('leaves the URL of one server unchanged', () => {
  expect(parseDatabaseUrl(one)).toEqual({ url: one })
})

test.each([
  [
    'postgres://waybill:pw@/waybill?host=/cloudsql/a:b:c',
    'postgres://waybill:pw@localhost/waybill?host=/cloudsql/a:b:c',
  ],
  ['postgres://u:pw@:5433/d', 'postgres://u:pw@localhost:5433/d'],
  ['postgresql:///d', 'postgresql:///d'],
])('reads %s, which names no host', (text, url) => {
  expect(parseDatabaseUrl(text)).toEqual({ url })
})

test.each([
  {
    text: 'postgres://u:p%40ss@a:5433,b,[2001:db8::1]:6000/d?sslmode=require',
    url: 'postgres://u:p%40ss@a:5433/d?sslmode=require',
    hosts: [
      { host: 'a', port: 5433 },
      { host: 'b', port: 5432 },
      { host: '2001:db8::1', port: 6000 },
    ],
  },
  {
    text: 'postgresql://a,b/d?target_session_attrs=read-write&connect_timeout=3',
    url: 'postgresql://a/d?connect_timeout=3',
    hosts: [
      { host: 'a', port: 5432 },
      { host: 'b', port: 5432 },
    ],
  },
  {
    text: 'postgres://a/d?target_session_attrs=primary',
    url: 'postgres://a/d',
    hosts: [{ host: 'a', port: 5432 }],
  },
  {
    text: 'postgres:///d?user=u&host=/var/run/postgresql&port=5433&target_session_attrs=read-write',
    url: 'postgres:///d?user=u&host=%2Fvar%2Frun%2Fpostgresql&port=5433',
    hosts: [{ host: '/var/run/postgresql', port: 5433 }],
  },
])('reads the servers of $text', ({ text, url, hosts }) => {
  expect(parseDatabaseUrl(text)).toEqual({ url, hosts })
})

test.each([
  { text: 'mysql://hush@a/d', says: 'must be a postgres:// URL' },
  { text: 'postgres://hush@a:x/d', says: 'must be a postgres:// URL' },
  { text: 'postgres://hush@a:1,b:x/d', says: 'must be a postgres:// URL' },
  { text: 'postgres://u:hu/sh@a,b/d', says: 'must be a postgres:// URL' },
  { text: 'postgres://u:hu#sh@a/d', says: 'password are percent-encoded, such as %23 for #' },
  { text: 'postgres://hush@a,/d', says: 'has an empty name in its list of hosts' },
  { text: 'postgres:///d?password=hush&host=a,b', says: 'must list several hosts before the name of the database' },
  { text: 'postgres://hush@a,b/d?port=1,2', says: 'must give each host its port' },
  { text: 'postgres://hush@a/d?hostaddr=10.0.0.5', says: 'has the parameter hostaddr' },
  { text: 'postgres://hush@/d?service=hushed', says: 'has the parameter service' },
  { text: 'postgres://hush@a/d?dbname=x', says: 'has the parameter dbname' },
  { text: 'postgres://hush@a/d?passfile=/x', says: 'has the parameter passfile' },
  { text: 'postgres://hush@a,b/d?target_session_attrs=any', says: 'target_session_attrs must be read-write' },
  { text: 'postgres://hush@a/d?target_session_attrs=standby', says: 'target_session_attrs must be read-write' },
])('rejects $text', ({ text, says }) => {
  expect(() => parseDatabaseUrl(text)).toThrow(says)
  expect(() => parseDatabaseUrl(text)).not.toThrow('hush')
})
