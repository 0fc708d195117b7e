type RejectionReason = 'too_large' | 'too_slow' | 'too_many' | 'too_long' | 'interrupted'

/** Reports why a callback was not received, or not handled completely. */
export class CallbackRejectedError extends Error {
  readonly statusCode: number
  readonly reason: RejectionReason
  constructor(reason: RejectionReason) {
    super(rejections[reason].text)
    this.name = 'CallbackRejectedError'
    this.statusCode = rejections[reason].statusCode
    this.reason = reason
  }
}

const rejections = {
  too_large: { statusCode: 413, text: 'The callback is larger than 3 MiB or has too many chunks.' },
  too_slow: { statusCode: 408, text: 'The body of the callback did not arrive in time.' },
  too_many: { statusCode: 503, text: 'Too many callbacks are arriving at once. Retry this callback.' },
  too_long: { statusCode: 503, text: 'The callback took too long and was applied only in part. Retry this callback.' },
  interrupted: { statusCode: 400, text: 'The connection closed before the body of the callback was complete.' },
} as const satisfies Record<RejectionReason, { statusCode: number; text: string }>
