import { notifications } from '@mantine/notifications'
import { readFailure } from './failure.ts'

export function notifyDone(message: string): void {
  notifications.show({ message, color: 'waybill' })
}

export function notifyFailure(error: unknown): void {
  notifyFailureMessage(readFailure(error).message)
}

export function notifyFailureMessage(message: string): void {
  notifications.show({ title: 'That did not work', message, color: 'red', autoClose: 10_000 })
}
