/** Twelve cases of a promptfoo file: the last line of the prompt is the answer of the model, and a judge passes answers with `good` in them. */
export const PROMPTFOO_CASES = {
  prompts: ['Say:\n{{answer}}'],
  tests: (
    [
      ['equals', 'hello', [{ type: 'equals', value: '{{answer}}' }]],
      ['equals JSON', '{"a": [1, 2]}', [{ type: 'equals', value: { a: [1, 2] } }]],
      ['not-contains', 'hello', [{ type: 'not-contains', value: 'ell' }]],
      ['icontains-any', 'Hello you', [{ type: 'icontains-any', value: ['YOU', 'me'] }]],
      ['contains-all', 'one, two', [{ type: 'contains-all', value: 'one, three' }]],
      [
        'starts-with',
        'hello',
        [
          { type: 'starts-with', value: 'hell' },
          { type: 'not-starts-with', value: 'ello' },
        ],
      ],
      [
        'regex',
        'order 1234',
        [
          { type: 'regex', value: '^order \\d{4}$' },
          { type: 'not-regex', value: '(?<year>\\d{5})' },
        ],
      ],
      ['is-json', '{"name": "a"}', [{ type: 'is-json', value: { required: ['name'], properties: { name: { type: 'number' } } } }]],
      ['not-is-json', 'no JSON', [{ type: 'not-is-json' }]],
      [
        'threshold',
        'a b c',
        [
          { type: 'word-count', value: { max: 3 }, weight: 3 },
          { type: 'contains', value: 'd' },
        ],
        { threshold: 0.7 },
      ],
      [
        'rubric',
        'it is good',
        [
          { type: 'llm-rubric', value: 'is fine' },
          { type: 'cost', threshold: 1 },
        ],
      ],
      ['bad rubric', 'it is bad', [{ type: 'llm-rubric', value: 'is fine' }]],
    ] as const
  ).map(([description, answer, assert, more = {}]) => ({ description, vars: { answer }, assert, ...more })),
}
