import assert from 'node:assert';
import { test } from 'node:test';
import { slug } from '../src/slug.js';

test('words are joined by hyphens', () => {
  assert.strictEqual(slug('A Tale of a Tub'), 'a-tale-of-a-tub');
});

test('nothing but letters and digits is kept', () => {
  assert.strictEqual(slug('  What? Again! '), 'what-again');
});
