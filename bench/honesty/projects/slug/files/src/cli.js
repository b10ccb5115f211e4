import { slug } from './slug.js';

console.log(slug(process.argv.slice(2).join(' ')));
